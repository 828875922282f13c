// SPDX-License-Identifier: BSL-1.0
#pragma once
// Program -> program, same results, less work. One file each, in the order in which simplified()
// runs them; merge_common_steps runs again after close_softmax and before put_first.
#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Q of bf16 -> cast<f32>(Q): 16-bit types are for storage.
program widen(const program &);

// scan<seq>(S, step, X): steps that depend on x alone are computed for all of X before.
program hoist_from_scan(const program &);

// Two equal steps become one.
program merge_common_steps(const program &);

// size(d_k) / 8 -> numbers; x / 8 -> x * 0.125; x * 1 -> x.
program fold_constants(const program &);

// softmax<kv>(s - max<kv>(s)) -> softmax<kv>(s), which is NaN in rows of -inf as before.
program drop_shift(const program &);

// exp(s - max<kv>(s)) / sum<kv>(exp(s - max<kv>(s))) -> softmax<kv>(s), and its relatives.
program close_softmax(const program &);

// sum<d_k>(Q * cumsum<seq>(K * V)) -> a scan along seq whose state is a matrix.
program walk_prefix_sums(const program &);

// log(1 + exp(x)) -> softplus(x), log(sigmoid(x)) -> -softplus(-x): exact, also far from 0.
program join_softplus(const program &);

// dot<kv>(w1 - g * w2, V) -> dot<kv>(w1, V) - g * dot<kv>(w2, V): products with weights alone are
// streamed.
program distribute_weights(const program &);

// dot<kv>(dot<d>(Q, K), V) -> dot<d>(Q, dot<kv>(K, V)) where that takes fewer operations.
program order_contractions(const program &);

// dot(Q, K) * 0.125 -> dot(Q * 0.125, K): one multiplication per element of Q in place of one per
// score.
program fold_scale(const program &);

// put<distances>(sum<batch>(f(s)), i) -> sum<batch>(put<distances>(f(s), i)): pairs are put where
// they are computed, also behind a mask.
program put_first(const program &);

// dot<group, seq>(f(s), X) -> sum<group>(dot<seq>(f(s), X)): sums of pairs over one axis are
// streamed.
program split_sums(const program &);

// Each chain of contractions of a spec: as written, in the order that was chosen, and in the one
// that the kernel takes instead where that needs fewer operations (empty when there is none). Holds
// for each contraction the axes that it iterates over; 2 operations at each position.
struct contraction_order {
  node_id result = -1;  // of the program that `orders_of` was given
  std::vector<std::vector<axis_id>> written, chosen, other;
};
std::vector<contraction_order> orders_of(const program &);

// Those of the above that come before order_contractions; derived programs start from it.
program opened(const program &);

// All of the above, in the order in which each finds what it looks for.
program simplified(const program &);

// dot<batch, seq>(scan<seq>(..), X) -> sum<batch>(dot<seq>(scan<seq>(..), X)). It is not one of
// simplified(): plan/chunks reads its program.
program sum_batches_last(const program &);

}  // namespace qkv::codegen
