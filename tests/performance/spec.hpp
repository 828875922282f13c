// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels for the grid of the benchmark (cases.py): each mask, head size and storage type, for any
// number of queries and keys, and for heads that share keys. The tool's serve command picks one by
// its name and shapes.
#include <qkv/dsl.hpp>

namespace bench {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads"> heads;  // of keys and values
inline constexpr batch_axis<"group"> group;  // query heads that share a key head
inline constexpr axis<"seq"> seq;
inline constexpr axis<"keys"> keys;
template <long N>
inline constexpr axis<"d", N> d;
template <long N>
inline constexpr axis<"e", N> e;

template <dtype T, long D>
using queries = in<"Q", T, batch, heads, group, seq, d<D>>;
template <dtype T, long D>
using keyed = in<"K", T, batch, heads, keys, d<D>>;
template <dtype T, long E>
using valued = in<"V", T, batch, heads, keys, e<E>>;
template <dtype T, long E>
using result = out<"O", T, batch, heads, group, seq, e<E>>;

// softmax(Seen(Q K' / sqrt(D))) V; Seen masks the scores, or caps them.
template <auto Seen, dtype T, long D, long E = D>
inline constexpr auto attention =
    [](queries<T, D> Q, keyed<T, D> K, valued<T, E> V) -> result<T, E> {
  return dot<keys>(softmax<keys>(Seen(dot<d<D>>(Q, K) / sqrt(d<D>))), V);
};
inline constexpr auto unmasked = [](auto s) { return s; };
// The last query sees the last key.
inline constexpr auto causal_at_end = [](auto s) {
  return mask(s, causal<seq, keys, align::last>);
};
template <int N>
inline constexpr auto window_at_end = [](auto s) {
  return mask(s, causal<seq, keys, align::last> && sliding_window<seq, keys, align::last>(N));
};
inline constexpr auto capped = [](auto s) { return causal_at_end(softcap(s, 30)); };

template <dtype T, long D>
inline constexpr auto padded =
    [](queries<T, D> Q, keyed<T, D> K, valued<T, D> V, in<"len", i32, batch> len) -> result<T, D> {
  return dot<keys>(softmax<keys>(mask(dot<d<D>>(Q, K) / sqrt(d<D>), index(keys) < len)), V);
};
template <dtype T, long D>
inline constexpr auto biased = [](queries<T, D> Q, keyed<T, D> K, valued<T, D> V,
                                  in<"bias", heads, group, seq, keys> bias) -> result<T, D> {
  return dot<keys>(softmax<keys>(dot<d<D>>(Q, K) / sqrt(d<D>) + bias), V);
};

inline constexpr auto sdpa_d24 = kernel<"sdpa_d24">(attention<unmasked, f32, 24>);
inline constexpr auto sdpa_d32 = kernel<"sdpa_d32">(attention<unmasked, f32, 32>);
inline constexpr auto sdpa_d40 = kernel<"sdpa_d40">(attention<unmasked, f32, 40>);
inline constexpr auto sdpa_d64 = kernel<"sdpa_d64">(attention<unmasked, f32, 64>);
inline constexpr auto sdpa_d72 = kernel<"sdpa_d72">(attention<unmasked, f32, 72>);
inline constexpr auto sdpa_d80 = kernel<"sdpa_d80">(attention<unmasked, f32, 80>);
inline constexpr auto sdpa_d96 = kernel<"sdpa_d96">(attention<unmasked, f32, 96>);
inline constexpr auto sdpa_d128 = kernel<"sdpa_d128">(attention<unmasked, f32, 128>);
inline constexpr auto sdpa_d192 = kernel<"sdpa_d192">(attention<unmasked, f32, 192>);
inline constexpr auto sdpa_d256 = kernel<"sdpa_d256">(attention<unmasked, f32, 256>);
inline constexpr auto sdpa_d64_v128 = kernel<"sdpa_d64_v128">(attention<unmasked, f32, 64, 128>);
inline constexpr auto sdpa_causal_d64 =
    kernel<"sdpa_causal_d64">(attention<causal_at_end, f32, 64>);
inline constexpr auto sdpa_causal_d72 =
    kernel<"sdpa_causal_d72">(attention<causal_at_end, f32, 72>);
inline constexpr auto sdpa_causal_d128 =
    kernel<"sdpa_causal_d128">(attention<causal_at_end, f32, 128>);
inline constexpr auto sdpa_window128_d64 =
    kernel<"sdpa_window128_d64">(attention<window_at_end<128>, f32, 64>);
inline constexpr auto sdpa_window128_d128 =
    kernel<"sdpa_window128_d128">(attention<window_at_end<128>, f32, 128>);
inline constexpr auto sdpa_window512_d64 =
    kernel<"sdpa_window512_d64">(attention<window_at_end<512>, f32, 64>);
inline constexpr auto sdpa_window512_d128 =
    kernel<"sdpa_window512_d128">(attention<window_at_end<512>, f32, 128>);
inline constexpr auto sdpa_causal_softcap30_d64 =
    kernel<"sdpa_causal_softcap30_d64">(attention<capped, f32, 64>);
inline constexpr auto sdpa_padding_d64 = kernel<"sdpa_padding_d64">(padded<f32, 64>);
inline constexpr auto sdpa_bias_d64 = kernel<"sdpa_bias_d64">(biased<f32, 64>);
inline constexpr auto sdpa_causal_softcap30_d128 =
    kernel<"sdpa_causal_softcap30_d128">(attention<capped, f32, 128>);
inline constexpr auto sdpa_padding_d128 = kernel<"sdpa_padding_d128">(padded<f32, 128>);
inline constexpr auto sdpa_bias_d128 = kernel<"sdpa_bias_d128">(biased<f32, 128>);
inline constexpr auto sdpa_d64_bf16 = kernel<"sdpa_d64_bf16">(attention<unmasked, bf16, 64>);
inline constexpr auto sdpa_causal_d64_bf16 =
    kernel<"sdpa_causal_d64_bf16">(attention<causal_at_end, bf16, 64>);
inline constexpr auto sdpa_d128_bf16 = kernel<"sdpa_d128_bf16">(attention<unmasked, bf16, 128>);
inline constexpr auto sdpa_causal_d128_bf16 =
    kernel<"sdpa_causal_d128_bf16">(attention<causal_at_end, bf16, 128>);
inline constexpr auto sdpa_d64_f16 = kernel<"sdpa_d64_f16">(attention<unmasked, f16, 64>);
inline constexpr auto sdpa_causal_d64_f16 =
    kernel<"sdpa_causal_d64_f16">(attention<causal_at_end, f16, 64>);
inline constexpr auto sdpa_d128_f16 = kernel<"sdpa_d128_f16">(attention<unmasked, f16, 128>);
inline constexpr auto sdpa_causal_d128_f16 =
    kernel<"sdpa_causal_d128_f16">(attention<causal_at_end, f16, 128>);

// ---- other scores, and a layer ------------------------------------------------------------------
inline constexpr auto linear_d64 = kernel<"linear_d64">(
    [](queries<f32, 64> Q, keyed<f32, 64> K, valued<f32, 64> V) -> result<f32, 64> {
      return linear_attention<d<64>, keys>(elu_plus_one(Q), elu_plus_one(K), V);
    });
// Bahdanau's scores of states that are projected already.
inline constexpr auto additive_d64 =
    kernel<"additive_d64">([](queries<f32, 64> Q, keyed<f32, 64> K, valued<f32, 64> V,
                              param<"w", d<64>> w) -> result<f32, 64> {
      return dot<keys>(
          softmax<keys>(dot<d<64>>(tanh(broadcast<keys>(Q) + broadcast<group, seq>(K)), w)), V);
    });
inline constexpr axis<"model", 512> model;
inline constexpr batch_axis<"of_layer", 8> of_layer;
inline constexpr alias<"kv", seq> kv;
inline constexpr auto layer_m512 = kernel<"layer_m512">(
    [](in<"Q", batch, seq, model> X, param<"Wq", model, of_layer, d<64>> Wq,
       param<"Wk", model, of_layer, d<64>> Wk, param<"Wv", model, of_layer, e<64>> Wv,
       param<"Wo", of_layer, e<64>, model> Wo) -> out<"O", batch, seq, model> {
      return multi_head<model, seq, kv, of_layer, d<64>, e<64>>(X, Wq, Wk, Wv, Wo);
    });
}  // namespace bench
