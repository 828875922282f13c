#pragma once
// Multi-head attention with its projections (Vaswani et al. 2017, section 3.2.2), over another
// sequence or over itself.
#include <qkv/attention/project.hpp>
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/ops/rename.hpp>

namespace qkv {
namespace detail {

// Ax: width of x, width of the other sequence, key, heads, features, values.
template <axes OfX, axes OfE, axes Key, axes Features, axes Joined, class X, class E, class Wq,
          class Wk, class Wv, class Wo, class... Keep>
struct cross_attention_check {
  static constexpr text why(trial t, const info &memory) {
    const info q = projection_of<Wq>::apply(t, "queries", OfX, of<X>);
    const info k = projection_of<Wk>::apply(t, "keys", OfE, memory);
    const info v = projection_of<Wv>::apply(t, "values", OfE, memory);
    const info mixed = try_attention<Keep...>(t, Features, Key, q, k, v);
    projection_of<Wo>::apply(t, "result", Joined, mixed);
    return t.why;
  }
  static constexpr text why() { return why({}, of<E>); }
};

template <axes Model, axes Position, axes Key, axes Features, axes Joined, class X, class... W>
struct multi_head_check {
  static constexpr text why() {
    trial t;
    const info memory = t(of<X>.label, rule::rename{Position.with(Key)}, of<X>);
    return cross_attention_check<Model, Model, Key, Features, Joined, X, X, W...>::why(t, memory);
  }
};

template <auto OfX, auto OfE, auto Key, auto Heads, auto DK, auto DV, class... T>
inline constexpr bool crosses =
    passes<cross_attention_check<axes_of<OfX>(), axes_of<OfE>(), axes_of<Key>(), axes_of<DK>(),
                                 axes_of<Heads, DV>(), T...>>;
template <auto OfX, auto OfE, auto Key, auto Heads, auto DK, auto DV, class... T>
using crosses_not = refusal<cross_attention_check<axes_of<OfX>(), axes_of<OfE>(), axes_of<Key>(),
                                                  axes_of<DK>(), axes_of<Heads, DV>(), T...>>;
template <auto Model, auto Position, auto Key, auto Heads, auto DK, auto DV, class... T>
inline constexpr bool self_attends =
    passes<multi_head_check<axes_of<Model>(), axes_of<Position>(), axes_of<Key>(), axes_of<DK>(),
                            axes_of<Heads, DV>(), T...>>;
template <auto Model, auto Position, auto Key, auto Heads, auto DK, auto DV, class... T>
using self_attends_not =
    refusal<multi_head_check<axes_of<Model>(), axes_of<Position>(), axes_of<Key>(), axes_of<DK>(),
                             axes_of<Heads, DV>(), T...>>;

}  // namespace detail

// Computes: scaled_dot_product of Q = X Wq, K = E Wk, V = E Wv for each head, then Wo over all
//           heads; over the keys that keep, if it is given, lets through.
// Shapes:   X[.., query, of_x], E[.., key, of_e], Wq[of_x, heads, features],
//           Wk[of_e, heads, features], Wv[of_e, heads, values], Wo[heads, values, out..] ->
//           [.., query, out..]; each W may be with_bias(W, b)
// Numerics: as dot and softmax.
// Errors:   as dot, softmax and mask. Matrices [of_x, heads * features] are those of the same
//           memory; split<d_attn, heads, d_k>(W) says so and checks that heads divide it.
template <an_axis auto OfX, an_axis auto OfE, an_axis auto Key, an_axis auto Heads,
          an_axis auto Features, an_axis auto Values, traced X, traced E, projection Wq,
          projection Wk, projection Wv, projection Wo, traced... Keep>
  requires(sizeof...(Keep) <= 1) &&
          detail::crosses<OfX, OfE, Key, Heads, Features, Values, X, E, Wq, Wk, Wv, Wo, Keep...>
constexpr auto cross_attention(X x, E e, Wq wq, Wk wk, Wv wv, Wo wo, Keep... keep) {
  auto query = project<OfX>(x, wq);
  auto key = project<OfE>(e, wk);
  auto value = project<OfE>(e, wv);
  return project<Heads, Values>(scaled_dot_product<Features, Key>(query, key, value, keep...), wo);
}
template <an_axis auto OfX, an_axis auto OfE, an_axis auto Key, an_axis auto Heads,
          an_axis auto Features, an_axis auto Values, traced X, traced E, projection Wq,
          projection Wk, projection Wv, projection Wo, traced... Keep,
          class Err = detail::crosses_not<OfX, OfE, Key, Heads, Features, Values, X, E, Wq, Wk, Wv,
                                          Wo, Keep...>>
  requires(sizeof...(Keep) <= 1)
Err cross_attention(X, E, Wq, Wk, Wv, Wo, Keep...);

// Computes: the same of X over itself: its positions are queries, and keys under another name.
// Shapes:   X[.., position, model], Wq, Wk [model, heads, features], Wv[model, heads, values],
//           Wo[heads, values, out..] -> [.., position, out..]
// Numerics: as cross_attention.
// Errors:   as rename and cross_attention.
template <an_axis auto Model, an_axis auto Position, an_axis auto Key, an_axis auto Heads,
          an_axis auto Features, an_axis auto Values, traced X, projection Wq, projection Wk,
          projection Wv, projection Wo, traced... Keep>
  requires(sizeof...(Keep) <= 1) && detail::self_attends<Model, Position, Key, Heads, Features,
                                                         Values, X, Wq, Wk, Wv, Wo, Keep...>
constexpr auto multi_head(X x, Wq wq, Wk wk, Wv wv, Wo wo, Keep... keep) {
  return cross_attention<Model, Model, Key, Heads, Features, Values>(x, rename<Position, Key>(x),
                                                                     wq, wk, wv, wo, keep...);
}
template <an_axis auto Model, an_axis auto Position, an_axis auto Key, an_axis auto Heads,
          an_axis auto Features, an_axis auto Values, traced X, projection Wq, projection Wk,
          projection Wv, projection Wo, traced... Keep,
          class Err = detail::self_attends_not<Model, Position, Key, Heads, Features, Values, X, Wq,
                                               Wk, Wv, Wo, Keep...>>
  requires(sizeof...(Keep) <= 1)
Err multi_head(X, Wq, Wk, Wv, Wo, Keep...);

}  // namespace qkv
