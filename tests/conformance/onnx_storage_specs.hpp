// SPDX-License-Identifier: BSL-1.0
#pragma once
// The ONNX operators Attention and FlexAttention for elements of other types than float.
#include "onnx_past_specs.hpp"

namespace onnx {

inline constexpr auto plain_f16 = kernel<"plain_f16">(
    [](in<"Q", f16, batch, heads, seq, d_k> Q, in<"K", f16, batch, heads, kv, d_k> K,
       in<"V", f16, batch, heads, kv, d_v> V) -> out<"Y", f16, batch, heads, seq, d_v> {
      return attend(scored(Q, K), V);
    });
inline constexpr auto plain_f64 = kernel<"plain_f64">(
    [](in<"Q", f64, batch, heads, seq, d_k> Q, in<"K", f64, batch, heads, kv, d_k> K,
       in<"V", f64, batch, heads, kv, d_v> V) -> out<"Y", f64, batch, heads, seq, d_v> {
      return attend(scored(Q, K), V);
    });
inline constexpr auto with_past_f16 = kernel<"with_past_f16">(
    [](in<"Q", f16, batch, heads, group, seq, d_k> Q, in<"K", f16, batch, heads, now, d_k> K,
       in<"V", f16, batch, heads, now, d_v> V, in<"mask", f16, batch, heads, group, seq, kv> M,
       in<"past_key", f16, batch, heads, past, d_k> PK,
       in<"past_value", f16, batch, heads, past, d_v> PV)
        -> outs<out<"Y", f16, batch, heads, group, seq, d_v>,
                out<"present_key", f16, batch, heads, kv, d_k>,
                out<"present_value", f16, batch, heads, kv, d_v>> {
      auto keys = concat<kv>(PK, K);
      auto values = concat<kv>(PV, V);
      return {attend(scored(Q, keys) + M, values), keys, values};
    });
}  // namespace onnx
