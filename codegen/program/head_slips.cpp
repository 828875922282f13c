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
    if (of_softmax.empty() || has(of_softmax, inner)) return;
    if (static_size(p_, outer) <= 1 || static_size(p_, inner) <= 1) return;
    say(queries, "heads that share a key head are not adjacent; did you mean split<{}>?",
        names_of(p_, {whole, inner, outer}));
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
