#pragma once
// Attention through landmarks (Nystromformer: Xiong et al. 2021).
#include <qkv/attention/scaled_dot_product.hpp>
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

template <axes OfQuery, axes OfKey, axes Features, axes L, axes M, axes Key, class Q, class K,
          class V>
struct nystrom_check {
  static constexpr text why() {
    trial t;
    const rule::reduction<op::mean> mean{one_axis(OfQuery[2])};
    const info q = t("landmarks", mean, t(of<Q>.label, rule::split{OfQuery}, of<Q>));
    const info k = t("landmarks", mean, t(of<K>.label, rule::split{OfKey}, of<K>));
    t("scores", rule::dot{Features}, q, k);
    const info far = t("weights", rule::softmax{M}, t("scores", rule::dot{Features}, of<Q>, k));
    const info near = t("weights", rule::softmax{Key}, t("scores", rule::dot{Features}, q, of<K>));
    const info values = t("values", rule::dot{Key}, near, of<V>);
    t("attention", rule::dot{M}, far, t("values", rule::rename{L.with(M)}, values));
    return t.why;
  }
};

template <auto Features, auto Query, auto Key, auto L, auto M, auto Segment, class... T>
inline constexpr bool approximates =
    passes<nystrom_check<axes_of<Query, L, Segment>(), axes_of<Key, M, Segment>(),
                         axes_of<Features>(), axes_of<L>(), axes_of<M>(), axes_of<Key>(), T...>>;
template <auto Features, auto Query, auto Key, auto L, auto M, auto Segment, class... T>
using approximates_not =
    refusal<nystrom_check<axes_of<Query, L, Segment>(), axes_of<Key, M, Segment>(),
                          axes_of<Features>(), axes_of<L>(), axes_of<M>(), axes_of<Key>(), T...>>;

}  // namespace detail

// Computes: the pseudo-inverse of weights A by Steps iterations of Z <- Z/4 (13 I - AZ (15 I - AZ
//           (7 I - AZ))), from A' / (largest row sum * largest column sum), each matrix by itself.
// Shapes:   A[.., l, m] -> [.., m, l]; l, m and s are three names of one size.
// Numerics: f32; steps of third order.
// Errors:   none here.
template <an_axis auto L, an_axis auto M, an_axis auto S, int Steps = 6, traced A>
  requires(Steps >= 0)
constexpr auto landmark_inverse(A weights) {
  auto a = plain(weights);
  auto first = a / (max<L>(sum<M>(a)) * max<M>(sum<L>(a)));
  return detail::better_inverse<L, M, S, Steps>(a, let<"inverse">(first));
}

// Computes: softmax(Q K~'/c) Z softmax(Q~ K'/c) V, c = sqrt(size(features)), Z the pseudo-inverse
//           of softmax(Q~ K~'/c); Q~ and K~ are means of equal segments, the landmarks. With a
//           landmark a position it is scaled_dot_product. Steps: iterations of the pseudo-inverse.
// Shapes:   Q[.., query, features], K[.., key, features], V[.., key, values] ->
//           [.., query, values]; query = l * segment = key; l, m and s are three names of one size
//           (alias<"m", l>)
// Numerics: f32. Results do not depend on other batch entries.
// Errors:   as split: landmarks that do not divide the sequence; as dot and softmax.
template <an_axis auto Features, an_axis auto Query, an_axis auto Key, an_axis auto L,
          an_axis auto M, an_axis auto S, an_axis auto Segment, int Steps = 6, traced Q, traced K,
          traced V>
  requires detail::approximates<Features, Query, Key, L, M, Segment, Q, K, V>
constexpr auto nystrom(Q query, K key, V value) {
  auto of_q = mean<Segment>(split<Query, L, Segment>(query));
  auto of_k = mean<Segment>(split<Key, M, Segment>(key));
  auto inverse =
      landmark_inverse<L, M, S, Steps>(softmax<M>(dot<Features>(of_q, of_k) / sqrt(Features)));
  auto from_landmarks = softmax<M>(dot<Features>(query, of_k) / sqrt(Features));
  auto values = scaled_dot_product<Features, Key>(of_q, key, value);
  return dot<M>(from_landmarks, dot<L>(inverse, values));
}
template <an_axis auto Features, an_axis auto Query, an_axis auto Key, an_axis auto L,
          an_axis auto M, an_axis auto S, an_axis auto Segment, int Steps = 6, traced Q, traced K,
          traced V,
          class Err = detail::approximates_not<Features, Query, Key, L, M, Segment, Q, K, V>>
Err nystrom(Q, K, V);

}  // namespace qkv
