#pragma once
// The kernels that are timed on GPUs: those of the benchmark, and a projection.
#include "../performance/spec.hpp"

namespace bench {
inline constexpr axis<"inner"> inner;
inline constexpr axis<"columns"> columns;

// A step of decoding where seq is 1.
inline constexpr auto grouped_d128 =
    kernel<"grouped_d128">([](in<"Q", batch, heads, group, seq, d128> Q, keyed<keys, d128> K,
                              valued<keys, d128> V) -> out<"O", batch, heads, group, seq, d128> {
      return attend<d128, keys>(Q, K, V, [](auto s) { return everything(s); });
    });
inline constexpr auto projection = kernel<"projection">(
    [](in<"X", batch, seq, inner> X,
       param<"W", inner, columns> W) -> out<"Y", batch, seq, columns> { return dot<inner>(X, W); });
}  // namespace bench
