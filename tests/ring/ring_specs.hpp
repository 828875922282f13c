// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels that are compiled for several machines.
#include <qkv/dsl.hpp>

namespace ring_kernels {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 4> heads;
inline constexpr batch_axis<"groups", 2> groups;
inline constexpr axis<"seq"> seq;
inline constexpr axis<"mem"> mem;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"d", 32> d;
inline constexpr axis<"e", 24> e;
inline constexpr axis<"d_model", 40> d_model;

// Keys and values of another sequence; the logsumexp is a result.
inline constexpr auto cross =
    kernel<"cross">([](in<"Q", batch, heads, seq, d> Q, in<"K", batch, heads, mem, d> K,
                       in<"V", batch, heads, mem, e> V)
                        -> outs<out<"O", batch, heads, seq, e>, out<"lse", batch, heads, seq>> {
      auto s = dot<d>(Q, K) / sqrt(d);
      return {dot<mem>(softmax<mem>(s), V), logsumexp<mem>(s)};
    });
// Query heads that share keys, a causal window, documents, a cap.
inline constexpr auto masked =
    kernel<"masked">([](in<"Q", batch, groups, heads, seq, d> Q, in<"K", batch, groups, kv, d> K,
                        in<"V", batch, groups, kv, e> V, in<"document", i32, batch, seq> document,
                        in<"window", i32> window) -> out<"O", batch, groups, heads, seq, e> {
      auto s = 30 * tanh(dot<d>(Q, K) / sqrt(d) / 30);
      auto keep = index(kv) <= index(seq) && index(seq) - index(kv) < window &&
                  document == rename<seq, kv>(document);
      return dot<kv>(softmax<kv>(mask(s, keep)), V);
    });
// Projections of own tokens before the keys go round, and after.
inline constexpr auto layer =
    kernel<"layer">([](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d> Wq,
                       param<"Wk", d_model, heads, d> Wk, param<"Wv", d_model, heads, e> Wv,
                       param<"Wo", heads, e, d_model> Wo) -> out<"Y", batch, seq, d_model> {
      // Scores of scale 1: larger ones would multiply the rounding of what is before them.
      auto Q = dot<d_model>(X, Wq) / sqrt(d_model);
      auto K = dot<d_model>(rename<seq, kv>(X), Wk) / sqrt(d_model);
      auto V = dot<d_model>(rename<seq, kv>(X), Wv);
      auto s = mask(dot<d>(Q, K) / sqrt(d), index(kv) <= index(seq));
      return X + dot<heads, e>(dot<kv>(softmax<kv>(s), V), Wo);
    });
// Query heads in groups that share key heads; the call decides how many.
inline constexpr batch_axis<"q_heads"> q_heads;
inline constexpr batch_axis<"kv_heads"> kv_heads;
inline constexpr batch_axis<"group"> group;
inline constexpr auto groups_of_call = kernel<"groups_of_call">(
    [](in<"Q", batch, q_heads, seq, d> Q, in<"K", batch, kv_heads, mem, d> K,
       in<"V", batch, kv_heads, mem, e> V) -> out<"O", batch, q_heads, seq, e> {
      auto s = dot<d>(split<q_heads, kv_heads, group>(Q), K) / sqrt(d);
      return merge<q_heads, kv_heads, group>(dot<mem>(softmax<mem>(s), V));
    });
// 16 bits, a bias of pairs.
inline constexpr auto biased_bf16 = kernel<"biased_bf16">(
    [](in<"Q", bf16, batch, seq, d> Q, in<"K", bf16, batch, mem, d> K,
       in<"V", bf16, batch, mem, e> V, in<"bias", seq, mem> bias) -> out<"O", bf16, batch, seq, e> {
      return cast<bf16>(dot<mem>(softmax<mem>(dot<d>(Q, K) / sqrt(d) + bias), V));
    });
// A few queries, and keys in a cache.
inline constexpr axis<"slots"> slots;
inline constexpr auto decode_far =
    kernel<"decode_far">([](in<"Q", batch, heads, seq, d> Q, in<"K", batch, heads, slots, d> K,
                            in<"V", batch, heads, slots, e> V,
                            in<"length", i32, batch> length) -> out<"O", batch, heads, seq, e> {
      auto seen = cached_causal<seq, slots>(length);
      return dot<slots>(softmax<slots>(mask(dot<d>(Q, K) / sqrt(d), seen)), V);
    });
// The same keys in pages.
inline constexpr axis<"pages"> pages;
inline constexpr axis<"blocks"> blocks;
inline constexpr axis<"slot", 4> slot;
inline constexpr auto decode_pages = kernel<"decode_pages">(
    [](in<"Q", batch, heads, seq, d> Q, in<"K", pages, heads, slot, d> key_pages,
       in<"V", pages, heads, slot, e> value_pages, in<"table", i32, batch, blocks> table,
       in<"length", i32, batch> length) -> out<"O", batch, heads, seq, e> {
      auto K = merge<slots, blocks, slot>(take<pages>(key_pages, table));
      auto V = merge<slots, blocks, slot>(take<pages>(value_pages, table));
      auto seen = cached_causal<seq, slots>(length);
      return dot<slots>(softmax<slots>(mask(dot<d>(Q, K) / sqrt(d), seen)), V);
    });
// A sum over all pairs.
inline constexpr auto all_pairs = kernel<"all_pairs">([
](in<"Q", batch, seq, d> Q, in<"K", batch, mem, d> K, in<"from", i32> from) -> out<"total", batch> {
  return sum<seq, mem>(relu(mask(dot<d>(Q, K), index(mem) >= from)));
});
// Sums over queries travel with the keys; sums over tokens are of all machines.
inline constexpr auto cross_step = gradient<cross, "Q", "K", "V">;
inline constexpr auto layer_step = gradient<layer>;
inline constexpr auto biased_step = gradient<biased_bf16, "V", "bias">;
}  // namespace ring_kernels
