// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/slice_slips.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

// slice<from, to>(x, first)
struct part {
  axis_id from, to;
  affine first;
};

class slice_finder : slip_finder {
 public:
  explicit slice_finder(const program &p) : slip_finder(p) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (is(op::dot, n)) {
        joined_otherwise(n);
        for (const std::size_t k : {0, 1}) cut_elsewhere(n, p_[n].in[k], p_[n].in[1 - k]);
      }
      if (is(op::take, n)) from_first(n);
    }
    return std::move(slips_);
  }

 private:
  std::optional<part> part_of(node_id n) const {
    if (!is(op::take, n)) return {};
    part x{p_[n].over[0], -1, affine_of(p_, p_[n].in[1])};
    for (const auto &[t, factor] : x.first.form)
      if (t.what == term::position && factor == 1 && !has(p_[p_[n].in[0]].shape, t.id)) x.to = t.id;
    if (x.to < 0) return {};
    x.first.form.erase({term::position, x.to});
    return x;
  }

  // dot of concat<all, past, new>(K_past, K) and concat<all, new, past>(V, V_past)
  void joined_otherwise(node_id n) {
    const node_id a = inner_of(p_, p_[n].in[0]), b = inner_of(p_, p_[n].in[1]);
    if (!is(op::concat, a) || !is(op::concat, b)) return;
    const std::vector<axis_id> &left = p_[a].over, &right = p_[b].over;
    if (left[0] != right[0] || left == right || !same_set(left, right)) return;
    if (!has(p_[n].over, left[0])) return;
    say(n, "{} joins the parts of {} in another order than {}; did you exchange its operands?",
        written_as(p_, b), p_.axes[left[0]].name, written_as(p_, a));
  }

  // dot<window>(softmax<window>(products with slice<cache, window>(K, first)),
  //             slice<cache, window>(V, 0))
  void cut_elsewhere(node_id n, node_id weights, node_id values) {
    const node_id v = inner_of(p_, values);
    const std::optional<part> of_values = part_of(v);
    if (!of_values || !has(p_[n].over, of_values->to)) return;
    node_id other = -1;
    bool is_same = false, are_weights = false;
    const auto enter = [&](node_id m) {
      are_weights = are_weights || makes_weights(p_[m].kind);
      const std::optional<part> of_keys = part_of(m);
      if (!of_keys || of_keys->from != of_values->from || of_keys->to != of_values->to) return true;
      const bool fits = of_keys->first.form == of_values->first.form &&
                        of_keys->first.number == of_values->first.number;
      if (fits) is_same = true;
      if (!fits) other = m;
      return false;
    };
    std::set<node_id> seen;
    walk(p_, weights, enter, seen);
    if (are_weights && other >= 0 && !is_same)
      say(n, "{} are values from another position on than the keys {}; did you mean one?",
          written_as(p_, v), written_as(p_, other));
  }

  // slice<all, text>(h, 0), where concat<all>(image, text) begins with the image
  void from_first(node_id n) {
    const std::optional<part> x = part_of(n);
    if (!x || !x->first.form.empty() || x->first.number != 0 || p_.axes[x->to].size == 1) return;
    for (node_id joined = 0; joined < n; ++joined) {
      const std::vector<axis_id> &over = p_[joined].over;
      if (p_[joined].kind != op::concat || over[0] != x->from || over.size() < 3) continue;
      if (root(over[1]) == root(x->to) || !has_root({over.begin() + 2, over.end()}, x->to))
        continue;
      return say(n,
                 "begins at position 0 of {0}, where {1} has {2}; did you mean slice<{0}, {3}>(.., "
                 "size({2}))?",
                 p_.axes[x->from].name, written_as(p_, joined), p_.axes[over[1]].name,
                 p_.axes[x->to].name);
    }
  }
};

}  // namespace

std::vector<slip> slice_slips(const program &p) { return slice_finder(p).run(); }

}  // namespace qkv::codegen
