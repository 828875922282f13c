// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/head_slips.hpp"

#include <utility>

#include "codegen/program/queries.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {
namespace {

class head_finder : slip_finder {
 public:
  explicit head_finder(const program &p) : slip_finder(p) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (is(op::dot, n))
        for (const std::size_t k : {0, 1}) groups_outside(n, p_[n].in[k], p_[n].in[1 - k]);
      if (is(op::merge, n)) features_outside(n);
      if (is(op::softmax, n)) unlike_windows(n);
    }
    return std::move(slips_);
  }

 private:
  // dot<d_k>(split<heads, group, kv_heads>(Q), K), where K has kv_heads alone
  void groups_outside(node_id n, node_id queries, node_id keys) {
    queries = unscaled(p_, queries);
    if (!is(op::split, queries)) return;
    const axis_id whole = p_[queries].over[0], outer = p_[queries].over[1],
                  inner = p_[queries].over[2];
    const bool shares_inner = has(p_[keys].shape, inner) && !has(p_[keys].shape, outer);
    if (!shares_inner || has(p_[n].over, inner) || has(p_[n].over, outer)) return;
    const std::vector<axis_id> of_softmax = keys_of_scores(p_, users_, n);
    if (of_softmax.empty() || has(with_renamed(of_softmax), inner) ||
        has(with_renamed(of_softmax), outer))
      return;
    if (static_size(p_, outer) <= 1 || static_size(p_, inner) <= 1) return;
    say(queries, "heads that share a key head are not adjacent; did you mean split<{}>?",
        names_of(p_, {whole, inner, outer}));
  }

  // softmax<y, x>, where height is split<height, y, window_y> and width split<width, window_x, x>
  void unlike_windows(node_id n) {
    if (p_[n].over.size() != 2) return;
    const std::vector<axis_id> keys = with_renamed(p_[n].over);
    for (node_id second = 0; second < n; ++second) {
      const node_id first = is(op::split, second) ? inner_of(p_, p_[second].in[0]) : -1;
      if (first < 0 || !is(op::split, first)) continue;
      for (const std::size_t part : {1, 2}) {
        const axis_id a = p_[first].over[part], b = p_[second].over[3 - part];
        const bool has_both = has_root(keys, a) && has_root(keys, b);
        if (!has_both || static_size(p_, a) == 1 || static_size(p_, b) == 1) continue;
        return say(
            second, "{} is the {} part of {}, but {} the {} one of {}; did you mean split<{}>?",
            names_of(p_, {a}), part == 1 ? "outer" : "inner", names_of(p_, {p_[first].over[0]}),
            names_of(p_, {b}), part == 1 ? "inner" : "outer", names_of(p_, {p_[second].over[0]}),
            names_of(p_, {p_[second].over[0], p_[second].over[2], p_[second].over[1]}));
      }
    }
  }

  // The axes, and those that rename<> makes them of.
  std::vector<axis_id> with_renamed(std::vector<axis_id> axes) const {
    const std::vector<axis_id> renamed = axes;
    for (const node &x : p_.nodes)
      if (x.kind == op::rename && has(renamed, x.over[1])) axes.push_back(x.over[0]);
    return axes;
  }

  // merge<d_attn, d_v, heads>(dot<kv>(weights, V)), where the weights have heads
  void features_outside(node_id n) {
    const std::vector<axis_id> &over = p_[n].over;
    const node_id product = inner_of(p_, p_[n].in[0]);
    if (!is(op::dot, product)) return;
    for (const node_id operand : p_[product].in) {
      const node_id weights = inner_of(p_, operand);
      if (!makes_weights(p_[weights].kind) || !same_set(p_[weights].over, p_[product].over))
        continue;
      if (has(p_[weights].shape, over[1]) || !has(p_[weights].shape, over[2])) continue;
      if (static_size(p_, over[1]) <= 1 || static_size(p_, over[2]) <= 1) continue;
      say(n, "features of one head are not adjacent; did you mean merge<{}>?",
          names_of(p_, {over[0], over[2], over[1]}));
    }
  }
};

}  // namespace

std::vector<slip> head_slips(const program &p) { return head_finder(p).run(); }

}  // namespace qkv::codegen
