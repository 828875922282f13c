// SPDX-License-Identifier: BSL-1.0
#pragma once
// Attention through landmarks (Nystromformer: Xiong et al. 2021).
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/index.hpp>
#include <qkv/ops/let.hpp>
#include <qkv/ops/plain.hpp>
#include <qkv/ops/reduce.hpp>
#include <qkv/ops/rename.hpp>
#include <qkv/ops/split.hpp>
#include <qkv/ops/where.hpp>

namespace qkv {
namespace detail {

// Z <- Z/4 (13 I - AZ (15 I - AZ (7 I - AZ))), again and again. A is [.., L, M], Z is [.., M, L]; S
// is a third name for the same size.
template <auto L, auto M, auto S, int Steps, class A, class Z>
constexpr auto better_inverse(A a, Z z) {
  if constexpr (Steps == 0) {
    return z;
  } else {
    const auto identity = where(index(L) == index(M), 1, 0);
    const auto times = [](auto x, auto y) {  // of two [.., L, M], as matrices
      return rename<S, M>(dot<M>(x, rename<L, M>(rename<M, S>(y))));
    };
    auto az = rename<S, M>(dot<M>(a, rename<L, S>(z)));
    auto inner = 13 * identity - times(az, 15 * identity - times(az, 7 * identity - az));
    auto next = rename<S, L>(dot<L>(z, rename<M, S>(inner))) / 4;
    return better_inverse<L, M, S, Steps - 1>(a, let<"inverse">(next));
  }
}

}  // namespace detail

// Computes: the pseudo-inverse of weights A by Steps iterations of Z <- Z/4 (13 I - AZ (15 I - AZ
//           (7 I - AZ))), from A' / (largest row sum * largest column sum), each matrix by itself.
// Shapes:   A[.., l, m] -> [.., m, l]; l, m and s are three names of one size.
// Numerics: f32; steps of third order.
// Errors:   none here.
template <an_axis auto L, an_axis auto M, an_axis auto S, int Steps = 6>
  requires(Steps >= 0)
inline constexpr auto landmark_inverse =
    formula<"landmark_inverse(weights)">([](tensor_expr auto weights) {
      auto a = plain(weights);
      auto first = a / (max<L>(sum<M>(a)) * max<M>(sum<L>(a)));
      return detail::better_inverse<L, M, S, Steps>(a, let<"inverse">(first));
    });

// Computes: softmax(Q K~'/c) Z softmax(Q~ K'/c) V, c = sqrt(size(features)), Z the pseudo-inverse
//           of softmax(Q~ K~'/c); Q~ and K~ are means of equal segments, the landmarks. With a
//           landmark a position it is scaled_dot_product. Steps: iterations of the pseudo-inverse.
// Shapes:   Q[.., query, features], K[.., key, features], V[.., key, values] ->
//           [.., query, values]; query = l * segment = key; l, m and s are three names of one size
//           (alias<"m", l>)
// Numerics: f32. Results do not depend on other batch entries.
// Errors:   as split: landmarks that do not divide the sequence; as dot and softmax.
template <an_axis auto Features, an_axis auto Query, an_axis auto Key, an_axis auto L,
          an_axis auto M, an_axis auto S, an_axis auto Segment, int Steps = 6>
inline constexpr auto nystrom = formula<"nystrom(query, key, value)">(
    [](traced auto query, traced auto key, traced auto value) {
      auto of_q = mean<Segment>(split<Query, L, Segment>(query));
      auto of_k = mean<Segment>(split<Key, M, Segment>(key));
      auto inverse =
          landmark_inverse<L, M, S, Steps>(softmax<M>(dot<Features>(of_q, of_k) / sqrt(Features)));
      auto from_landmarks = softmax<M>(dot<Features>(query, of_k) / sqrt(Features));
      auto values = scaled_dot_product<Features, Key>(of_q, key, value);
      return dot<M>(from_landmarks, dot<L>(inverse, values));
    });

}  // namespace qkv
