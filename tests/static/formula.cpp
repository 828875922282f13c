// SPDX-License-Identifier: BSL-1.0
// Formulas of users: what they give, and that a wrong call is refused by the step that it breaks.
#include <tuple>
#include <utility>

#include "spec.hpp"

namespace {

using namespace spec;

template <an_axis auto Features>
inline constexpr auto cosines = formula<"cosines(q, k)">([](traced auto q, traced auto k) {
  return dot<Features>(unit_length<Features>(q), unit_length<Features>(k));
});

// one formula inside another, a second form, a number
template <an_axis auto Features, an_axis auto Key>
inline constexpr auto attend = formula<"attend(q, k, v[, scale])">(
    [](traced auto q, traced auto k, traced auto v) {
      return dot<Key>(softmax<Key>(cosines<Features>(q, k)), v);
    },
    [](traced auto q, traced auto k, traced auto v, operand auto scale) {
      return dot<Key>(softmax<Key>(cosines<Features>(q, k) * scale), v);
    });

template <class T>
inline constexpr detail::info info_of = detail::of<T>;
template <class A, class B>
constexpr bool same_step =
    info_of<A>.s == info_of<B>.s && info_of<A>.m.type == info_of<B>.m.type &&
    info_of<A>.m.weights == info_of<B>.m.weights && info_of<A>.m.param == info_of<B>.m.param;

// the step that the formula written out gives, named by the call
static_assert(same_step<decltype(attend<d_k, kv>(Q, K, V)),
                        decltype(dot<kv>(softmax<kv>(dot<d_k>(Q, K)), V))>);
static_assert(info_of<decltype(attend<d_k, kv>(Q, K, V))>.label == "attend(Q, K, V)");
static_assert(info_of<decltype(attend<d_k, kv>(Q, K, V, 8))>.label == "attend(Q, K, V, number)");
static_assert(!detail::in_formula<decltype(attend<d_k, kv>(Q, K, V))>);

// refused by a step of the formula, or of one inside it; by what the rules know of the operands
static_assert(says<decltype(attend<d_k, kv>(Q, Q, V))>(
    "dot<d_k>: both sides carry seq rename one side or make it a batch axis: rename<seq, "
    "...>(unit_length(Q)) for a product at each seq, write sum<d_k>(unit_length(Q) * "
    "unit_length(Q)) unit_length(Q)[batch, heads=8, seq, d_k=64] unit_length(Q)[batch, heads=8, "
    "seq, d_k=64]"));
static_assert(says<decltype(attend<d_k, kv>(Q, K, X))>(
    "dot<kv>: no axis kv in X softmax(cosines(Q, K))[batch, heads=8, seq, kv] X[batch, seq, "
    "d_model=512]"));
static_assert(says<decltype(attend<d_v, kv>(Q, K, V))>(
    "unit_length<d_v>: no axis d_v in Q Q[batch, heads=8, seq, d_k=64]"));
static_assert(says<decltype(attend<d_k, kv>(Q, K, V, b))>(
    "*: b varies along d_model, which cosines(Q, K) lacks cosines(Q, K)[batch, heads=8, seq, kv] "
    "b[d_model=512]"));
// operands that it does not take
static_assert(says<decltype(attend<d_k, kv>(Q, K))>(
    "attend is not called with 2 such operands it takes attend(q, k, v[, scale])"));
static_assert(says<decltype(attend<d_k, kv>(Q, K, V, 8, 9))>(
    "attend is not called with 5 such operands it takes attend(q, k, v[, scale])"));
static_assert(says<decltype(attend<d_k, kv>(Q, K, 3))>(
    "attend is not called with 3 such operands it takes attend(q, k, v[, scale])"));
static_assert(says<decltype(attend<d_k, kv>(Q, K, V, heads))>(
    "attend: heads is an axis, not a step index(heads) counts its positions, size(heads) is how "
    "many there are it takes attend(q, k, v[, scale])"));

// several results
template <an_axis auto Key>
inline constexpr auto with_lse = formula<"with_lse(s, v)">([](traced auto s, traced auto v) {
  return std::pair{dot<Key>(softmax<Key>(s), v), logsumexp<Key>(s)};
});
template <an_axis auto Key>
inline constexpr auto three = formula<"three(s, v)">([](traced auto s, traced auto v) {
  auto [o, lse] = with_lse<Key>(s, v);
  return std::tuple{o, lse, max<Key>(s)};
});
using both = decltype(with_lse<kv>(scores, V));
static_assert(same_step<both::first_type, decltype(dot<kv>(weights, V))>);
static_assert(same_step<both::second_type, decltype(logsumexp<kv>(scores))>);
using all = decltype(three<kv>(scores, V));
static_assert(std::is_same_v<std::tuple_element_t<0, all>, both::first_type>);
static_assert(same_step<std::tuple_element_t<2, all>, decltype(max<kv>(scores))>);
static_assert(
    says<decltype(three<kv>(scores, Q))>("dot<kv>: no axis kv in Q softmax(dot(Q, K))[batch, "
                                         "heads=8, seq, kv] Q[batch, heads=8, seq, d_k=64]"));
static_assert(says<decltype(three<mem>(scores, V))>(
    "softmax<mem>: no axis mem in dot(Q, K) dot(Q, K)[batch, heads=8, seq, kv]"));

// a recurrence, and a name that is none, inside
template <an_axis auto Position>
inline constexpr auto running_mean = formula<"running_mean(x)">([](traced auto x) {
  auto before = zeros<batch, d_model>();
  return scan<Position>(before, [](auto s, auto y) { return s * 0.5 + y * 0.5; }, x).result;
});
static_assert(info_of<decltype(running_mean<seq>(X))>.s.n == 3);
static_assert(
    says<decltype(running_mean<mem>(X))>("scan<mem>: no axis mem in X X[batch, seq, d_model=512]"));
static_assert(says<decltype(running_mean<seq>(Q))>(
    "+: neither side contains the other if it is meant, broadcast<heads, d_k>(zeros * number) and "
    "broadcast<d_model>(Q * number) zeros * number[batch, d_model=512] Q * number[batch, heads=8, "
    "d_k=64]"));
inline constexpr auto forgetful = formula<"forgetful(x, y)">([](traced auto x, traced auto y) {
  return scan<seq>(zeros<batch, d_model>(), [](auto s, auto z) { return s + z; }, x, y).last;
});
static_assert(says<decltype(forgetful(X, X))>(
    "scan<seq>: the step takes fewer operands than the state and the 2 that follow it [](auto "
    "state, auto x, ..) with an x for each"));
inline constexpr auto badly_named =
    formula<"badly_named(x)">([](traced auto x) { return let<"two words">(x) * 2; });
static_assert(says<decltype(badly_named(X))>(
    "let two words: a name is a letter, then letters, digits or _ X[batch, seq, d_model=512]"));

// Any number of operands.
inline constexpr auto total = formula<"total(x, rest..)">(
    [](traced auto x, traced auto... rest) { return (x + ... + rest); });
static_assert(!refused<decltype(total(scores, scores, scores))>);

}  // namespace
