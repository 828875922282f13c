#pragma once
// Attentions whose products run on tensor cores: inputs and results of 16 bits.
#include <qkv/dsl.hpp>

namespace tensor {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads"> heads;
inline constexpr batch_axis<"group"> group;  // query heads that share a key head
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"keys"> keys;
template <long N>
inline constexpr axis<"d", N> d;
template <long N>
inline constexpr axis<"d_v", N> d_v;

template <auto T, long D>
using queries = in<"Q", T, batch, heads, seq, d<D>>;
template <auto T, auto J, long D>
using keyed = in<"K", T, batch, heads, J, d<D>>;
template <auto T, auto J, long D>
using valued = in<"V", T, batch, heads, J, d<D>>;
template <auto T, long D>
using result = out<"O", T, batch, heads, seq, d<D>>;

inline constexpr auto full_bf16 = kernel<"full_bf16">(
    [](queries<bf16, 64> Q, keyed<bf16, keys, 64> K, valued<bf16, keys, 64> V) -> result<bf16, 64> {
      return scaled_dot_product<d<64>, keys>(Q, K, V);
    });
inline constexpr auto full_f16 = kernel<"full_f16">(
    [](queries<f16, 128> Q, keyed<f16, keys, 128> K, valued<f16, keys, 128> V) -> result<f16, 128> {
      return scaled_dot_product<d<128>, keys>(Q, K, V);
    });
inline constexpr auto causal_bf16 = kernel<"causal_bf16">(
    [](queries<bf16, 128> Q, keyed<bf16, kv, 128> K, valued<bf16, kv, 128> V) -> result<bf16, 128> {
      return scaled_dot_product<d<128>, kv>(Q, K, V, causal<seq, kv>);
    });
// Columns that are no multiple of 64, queries in groups, a window, and a cap.
inline constexpr auto grouped_window =
    kernel<"grouped_window">([](in<"Q", bf16, batch, heads, group, seq, d<40>> Q,
                                keyed<bf16, kv, 40> K, in<"V", bf16, batch, heads, kv, d_v<72>> V)
                                 -> out<"O", bf16, batch, heads, group, seq, d_v<72>> {
      auto s = softcap(dot<d<40>>(Q, K) / sqrt(d<40>), 5.0f);
      return dot<kv>(softmax<kv>(mask(s, index(seq) - 40 < index(kv) && index(kv) <= index(seq))),
                     V);
    });
// The logsumexp beside the result, a bias per pair, documents, and lengths of the call.
inline constexpr auto biased_documents = kernel<"biased_documents">(
    [](queries<bf16, 64> Q, keyed<bf16, kv, 64> K, valued<bf16, kv, 64> V,
       in<"bias", heads, seq, kv> bias, in<"document", i32, batch, seq> document,
       in<"length", i32, batch> length) -> outs<result<bf16, 64>, out<"lse", batch, heads, seq>> {
      auto s = dot<d<64>>(Q, K) / sqrt(d<64>) + bias;
      auto m = mask(s, document == rename<seq, kv>(document) && index(kv) < length);
      return {dot<kv>(softmax<kv>(m), V), logsumexp<kv>(m)};
    });
}  // namespace tensor
