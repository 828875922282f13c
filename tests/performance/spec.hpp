#pragma once
// Kernels for the fp32 prefill part of the benchmark's grid (cases.py): masks, softcap, head sizes, grouped heads.
// The tool's serve command picks one by its name.
#include <qkv/dsl.hpp>

namespace bench {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads"> heads;  // of keys and values
inline constexpr batch_axis<"group"> group;  // query heads that share a key head
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;  // self-attention
inline constexpr axis<"keys"> keys;    // cross-attention: as many as the call sets
inline constexpr axis<"d32", 32> d32;
inline constexpr axis<"d64", 64> d64;
inline constexpr axis<"d128", 128> d128;
inline constexpr axis<"v128", 128> v128;

// softmax(scores) V, with scores given by the mask of a kernel. D: the head size of queries and keys.
template <auto D, auto J>
constexpr auto attend(auto Q, auto K, auto V, auto masked) {
  return dot<J>(softmax<J>(masked(dot<D>(Q, K) / sqrt(D))), V);
}
constexpr auto everything(auto s) { return s; }
constexpr auto causal(auto s) { return mask(s, index(kv) <= index(seq)); }
constexpr auto window_512(auto s) {
  return mask(s, index(kv) <= index(seq) and index(seq) - index(kv) < 512);
}
constexpr auto softcap_30(auto s) { return 30.f * tanh(s / 30.f); }

template <auto D>
using queries = in<"Q", batch, heads, seq, D>;
template <auto J, auto D>
using keyed = in<"K", batch, heads, J, D>;
template <auto J, auto D>
using valued = in<"V", batch, heads, J, D>;
template <auto D>
using result = out<"O", batch, heads, seq, D>;

inline constexpr auto sdpa_d32 =
    kernel<"sdpa_d32">([](queries<d32> Q, keyed<keys, d32> K, valued<keys, d32> V) -> result<d32> {
      return attend<d32, keys>(Q, K, V, [](auto s) { return everything(s); });
    });
inline constexpr auto sdpa_d64 =
    kernel<"sdpa_d64">([](queries<d64> Q, keyed<keys, d64> K, valued<keys, d64> V) -> result<d64> {
      return attend<d64, keys>(Q, K, V, [](auto s) { return everything(s); });
    });
inline constexpr auto sdpa_d128 = kernel<"sdpa_d128">(
    [](queries<d128> Q, keyed<keys, d128> K, valued<keys, d128> V) -> result<d128> {
      return attend<d128, keys>(Q, K, V, [](auto s) { return everything(s); });
    });
inline constexpr auto sdpa_d64_v128 = kernel<"sdpa_d64_v128">(
    [](queries<d64> Q, keyed<keys, d64> K, valued<keys, v128> V) -> result<v128> {
      return attend<d64, keys>(Q, K, V, [](auto s) { return everything(s); });
    });
inline constexpr auto sdpa_causal_d64 = kernel<"sdpa_causal_d64">(
    [](queries<d64> Q, keyed<kv, d64> K, valued<kv, d64> V) -> result<d64> {
      return attend<d64, kv>(Q, K, V, [](auto s) { return causal(s); });
    });
inline constexpr auto sdpa_causal_d128 = kernel<"sdpa_causal_d128">(
    [](queries<d128> Q, keyed<kv, d128> K, valued<kv, d128> V) -> result<d128> {
      return attend<d128, kv>(Q, K, V, [](auto s) { return causal(s); });
    });
inline constexpr auto sdpa_causal_grouped_d128 = kernel<"sdpa_causal_grouped_d128">(
    [](in<"Q", batch, heads, group, seq, d128> Q, keyed<kv, d128> K,
       valued<kv, d128> V) -> out<"O", batch, heads, group, seq, d128> {
      return attend<d128, kv>(Q, K, V, [](auto s) { return causal(s); });
    });
inline constexpr auto sdpa_bias_d64 =
    kernel<"sdpa_bias_d64">([](queries<d64> Q, keyed<keys, d64> K, valued<keys, d64> V,
                               in<"bias", heads, seq, keys> bias) -> result<d64> {
      return dot<keys>(softmax<keys>(dot<d64>(Q, K) / sqrt(d64) + bias), V);
    });
inline constexpr auto sdpa_padding_d64 =
    kernel<"sdpa_padding_d64">([](queries<d64> Q, keyed<keys, d64> K, valued<keys, d64> V,
                                  in<"len", i32, batch> len) -> result<d64> {
      auto scores = mask(dot<d64>(Q, K) / sqrt(d64), index(keys) < len);
      return dot<keys>(softmax<keys>(scores), V);
    });
inline constexpr auto sdpa_window512_d64 = kernel<"sdpa_window512_d64">(
    [](queries<d64> Q, keyed<kv, d64> K, valued<kv, d64> V) -> result<d64> {
      return attend<d64, kv>(Q, K, V, [](auto s) { return window_512(s); });
    });
inline constexpr auto sdpa_causal_softcap30_d128 = kernel<"sdpa_causal_softcap30_d128">(
    [](queries<d128> Q, keyed<kv, d128> K, valued<kv, d128> V) -> result<d128> {
      return attend<d128, kv>(Q, K, V, [](auto s) { return causal(softcap_30(s)); });
    });
}  // namespace bench
