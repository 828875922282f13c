// SPDX-License-Identifier: BSL-1.0
#pragma once
// Attentions whose gradients are timed beside those of plain attention: one score, mask or bias
// each.
#include <qkv/dsl.hpp>

#include "spec.hpp"

namespace gradient_bench {
inline constexpr axis<"group", 4> group;
inline constexpr axis<"distances", 257> distances;

inline constexpr auto softcapped =
    kernel<"softcapped">([](queries<64> Q, keyed<64> K, valued<64> V) -> result<64> {
      return dot<kv>(softmax<kv>(softcap(dot<d<64>>(Q, K) / sqrt(d<64>), 30)), V);
    });
inline constexpr auto sloped = kernel<"sloped">(
    [](queries<64> Q, keyed<64> K, valued<64> V, in<"slopes", heads> slopes) -> result<64> {
      return dot<kv>(softmax<kv>(dot<d<64>>(Q, K) / sqrt(d<64>) + alibi<seq, kv>(slopes)), V);
    });
inline constexpr auto tabled =
    kernel<"tabled">([](queries<64> Q, keyed<64> K, valued<64> V,
                        in<"table", heads, distances> table) -> result<64> {
      return dot<kv>(
          softmax<kv>(dot<d<64>>(Q, K) / sqrt(d<64>) + relative_bias<seq, kv, distances>(table)),
          V);
    });
inline constexpr auto biased = kernel<"biased">(
    [](queries<64> Q, keyed<64> K, valued<64> V, in<"bias", heads, seq, kv> bias) -> result<64> {
      return dot<kv>(softmax<kv>(dot<d<64>>(Q, K) / sqrt(d<64>) + bias), V);
    });
inline constexpr auto fixed_bias = kernel<"fixed_bias">(
    [](queries<64> Q, keyed<64> K, valued<64> V, in<"bias", heads, seq, kv> bias) -> result<64> {
      return dot<kv>(softmax<kv>(dot<d<64>>(Q, K) / sqrt(d<64>) + bias), V);
    });
inline constexpr auto windowed = kernel<"windowed">([](queries<64> Q, keyed<64> K,
                                                       valued<64> V) -> result<64> {
  return scaled_dot_product<d<64>, kv>(Q, K, V, causal<seq, kv> and sliding_window<seq, kv>(256));
});
inline constexpr auto documented = kernel<"documented">(
    [](queries<64> Q, keyed<64> K, valued<64> V, in<"id", i32, seq> id) -> result<64> {
      return scaled_dot_product<d<64>, kv>(Q, K, V, document<seq, kv>(id));
    });
inline constexpr auto sunk = kernel<"sunk">(
    [](queries<64> Q, keyed<64> K, valued<64> V, in<"sink", heads> sink) -> result<64> {
      return attend_with_sink<kv>(dot<d<64>>(Q, K) / sqrt(d<64>), V, sink);
    });
inline constexpr auto dropped =
    kernel<"dropped">([](queries<64> Q, keyed<64> K, valued<64> V) -> result<64> {
      return dot<kv>(dropout<0.1>(softmax<kv>(dot<d<64>>(Q, K) / sqrt(d<64>)), 42), V);
    });
inline constexpr auto shared_heads =
    kernel<"shared_heads">([](in<"Q", batch, heads, group, seq, d<64>> Q, keyed<64> K,
                              valued<64> V) -> out<"O", batch, heads, group, seq, d<64>> {
      return scaled_dot_product<d<64>, kv>(Q, K, V);
    });
inline constexpr auto softcapped_step = gradient<softcapped>;
inline constexpr auto sloped_step = gradient<sloped>;
inline constexpr auto tabled_step = gradient<tabled>;
inline constexpr auto biased_step = gradient<biased>;
inline constexpr auto fixed_bias_step = gradient<fixed_bias, "Q", "K", "V">;
inline constexpr auto windowed_step = gradient<windowed>;
inline constexpr auto documented_step = gradient<documented>;
inline constexpr auto sunk_step = gradient<sunk>;
inline constexpr auto dropped_step = gradient<dropped>;
inline constexpr auto shared_heads_step = gradient<shared_heads>;
}  // namespace gradient_bench
