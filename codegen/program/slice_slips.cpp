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
        parts_exchanged(n);
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

  // dot<d>(concat<d, content, rotated>(q, q_rotated), concat<d, rotated, content>(k_rotated, k))
  void parts_exchanged(node_id n) {
    const node_id a = inner_of(p_, p_[n].in[0]), b = inner_of(p_, p_[n].in[1]);
    if (!is(op::concat, a) || !is(op::concat, b)) return;
    const std::vector<axis_id> &left = p_[a].over, &right = p_[b].over;
    if (left[0] != right[0] || left == right || !same_set(left, right)) return;
    if (!has(p_[n].over, left[0])) return;
    say(n, "{} joins the parts of {} in another order than {}; did you exchange its operands?",
        written_as(p_, b), p_.axes[left[0]].name, written_as(p_, a));
  }

  // dot<window>(softmax<window>(products with slice<cache, window>(K, first)),
  //             slice<cache, window>(V, 0)). Two numbers are a shift that is meant.
  void cut_elsewhere(node_id n, node_id weights, node_id values) {
    const node_id v = inner_of(p_, values);
    const std::optional<part> of_values = part_of(v);
    if (!of_values || !has(p_[n].over, of_values->to)) return;
    bool is_same = false;
    node_id other = -1;
    for (const node_id k : keys_of(weights, of_values->to)) {
      const std::optional<part> of_keys = part_of(k);
      if (!of_keys || of_keys->from != of_values->from || of_keys->to != of_values->to) continue;
      const bool is_equal = of_keys->first.form == of_values->first.form;
      if (is_equal && of_keys->first.number == of_values->first.number) is_same = true;
      if (!is_equal) other = k;
    }
    if (other >= 0 && !is_same)
      say(n, "{} begins at another position than the keys {}; did you mean the same one?",
          written_as(p_, v), written_as(p_, other));
  }
  // The operands of the products that weights along an axis are made of.
  std::vector<node_id> keys_of(node_id weights, axis_id key) const {
    const auto is_pair_step = [&](node_id m) {
      const op kind = p_[m].kind;
      return makes_weights(kind) || is_pointwise(kind) || is_view(kind) || kind == op::mask;
    };
    std::set<node_id> seen;
    walk(p_, weights, is_pair_step, seen);
    bool are_weights = false;
    std::vector<node_id> operands;
    for (const node_id m : seen) {
      are_weights = are_weights || (makes_weights(p_[m].kind) && has(p_[m].over, key));
      if (p_[m].kind == op::dot && !has(p_[m].over, key))
        for (const node_id operand : p_[m].in) operands.push_back(inner_of(p_, operand));
    }
    return are_weights ? operands : std::vector<node_id>();
  }

  // slice<all, text>(h, 0), where concat<all>(image, text), of which h is made, begins with the
  // image. One position before is a shift, and so is a part of what is joined.
  void from_first(node_id n) {
    const std::optional<part> x = part_of(n);
    if (!x || !x->first.form.empty() || x->first.number != 0 || static_size(p_, x->to) == 1) return;
    const node_id whole = inner_of(p_, p_[n].in[0]);
    for (node_id m = 0; m < static_cast<node_id>(p_.nodes.size()); ++m)
      if (const std::optional<part> other = part_of(m);
          other && m != n && inner_of(p_, p_[m].in[0]) == whole && other->to == x->to)
        return;
    for (node_id joined = 0; joined < whole; ++joined) {
      const std::vector<axis_id> &over = p_[joined].over;
      if (p_[joined].kind != op::concat || over[0] != x->from || over.size() < 3) continue;
      if (root(over[1]) == root(x->to) || static_size(p_, over[1]) == 1) continue;
      if (!has_root({over.begin() + 2, over.end()}, x->to)) continue;
      if (!depends_on(p_, whole, [&](node_id m) { return m == joined; })) continue;
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
