// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/bias_slips.hpp"

#include <algorithm>
#include <set>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/signed_distance.hpp"
#include "codegen/program/signs.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class bias_finder : slip_finder {
 public:
  explicit bias_finder(const program &p)
      : slip_finder(p), positions_(steps_of_positions(p)), signs_(signs_of(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
      if (is(op::softmax, n) && p_[n].over.size() == 1) of_weights(n);
    return std::move(slips_);
  }

 private:
  // Terms of the scores that these weights are made of.
  void of_weights(node_id weights) {
    const std::vector<node_id> masks = masks_of_weights(p_, weights);
    const auto causal = std::find_if(masks.begin(), masks.end(), [&](node_id condition) {
      return is_causal(p_, condition, p_[weights].over);
    });
    const bool has_all_keys =
        std::none_of(masks.begin(), masks.end(),
                     [&](node_id condition) {
                       return (positions_[condition] && !is_padding(p_, condition)) ||
                              is_input_of_pairs(condition, weights);
                     }) &&
        !depends_on(
            p_, p_[weights].in[0], [&](node_id n) { return is_input_of_pairs(n, weights); },
            [&](node_id n) { return is_pointwise(p_[n].kind) || is_view(p_[n].kind); });
    std::set<node_id> below;
    walk(
        p_, p_[weights].in[0],
        [&](node_id n) {
          if (has_all_keys && (is(op::add, n) || is(op::sub, n))) has_sides(n, weights);
          if (is(op::take, n) && causal != masks.end()) never_taken(n, weights, *causal);
          return is_pointwise(p_[n].kind) || p_[n].kind == op::mask;
        },
        below);
  }

  // A mask that comes as an input.
  bool is_input_of_pairs(node_id n, node_id weights) const {
    const node &x = p_[unbroadcast(p_, inner_of(p_, n))];
    const auto is_query = [&](axis_id a) { return !p_.axes[a].batch && !has(p_[weights].over, a); };
    return x.kind == op::input && contains(x.shape, p_[weights].over) &&
           std::any_of(x.shape.begin(), x.shape.end(), is_query);
  }

  // scores + slope * (index(kv) - index(seq)) without a mask that leaves one side of the query
  void has_sides(node_id n, node_id weights) {
    for (const std::size_t k : {0, 1}) {
      const node_id bias = p_[n].in[k];
      if (p_[inner_of(p_, bias)].type == i32) continue;
      const signed_distance d = distance_of(p_, signs_, positions_, bias);
      const auto two = d.factor == 0 ? std::nullopt : difference_in(d.of);
      if (!two) continue;
      const bool is_key_first = has(p_[weights].over, two->first),
                 is_taken_off = p_[n].kind == op::sub && k == 1;
      const axis_id key = is_key_first ? two->first : two->second,
                    query = is_key_first ? two->second : two->first;
      if (!has(p_[weights].over, key) || has(p_[weights].over, query)) continue;
      if ((d.factor > 0) != (is_key_first != is_taken_off)) continue;  // earlier keys gain
      return say(
          n,
          "the distance in {} has a sign, and no mask hides later keys, which gain with it; did "
          "you mean abs(index({}) - index({})), or a causal mask?",
          written_as(p_, bias), p_.axes[query].name, p_.axes[key].name);
    }
  }

  // take<buckets>(table, where(index(kv) > index(seq), near + 16, near)) under causal<seq, kv>
  void never_taken(node_id n, node_id weights, node_id causal) {
    const auto is_hidden = [&](node_id m) {
      return is(op::where, m) &&
             all_bound_distance(positions_where(p_, p_[m].in[0], true), p_[weights].over,
                                [](const interval &d) { return d.least >= 1; });
    };
    if (!depends_on(p_, p_[n].in[1], is_hidden)) return;
    say(n,
        "keeps buckets for keys after the query, which {} hides; did you mean t5_causal_bias in "
        "place of t5_bias?",
        written_as(p_, causal));
  }

  const std::vector<bool> positions_;
  const std::vector<sign> signs_;
};

}  // namespace

std::vector<slip> bias_slips(const program &p) { return bias_finder(p).run(); }

}  // namespace qkv::codegen
