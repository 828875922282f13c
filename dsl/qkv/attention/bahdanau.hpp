#pragma once
// The additive scores of Bahdanau, Cho, Bengio 2015, "Neural Machine Translation by Jointly
// Learning to Align and Translate".
#include <qkv/core/trial.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/broadcast.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>

namespace qkv {
namespace detail {

template <axes Ax, class H, class S, class W, class U, class V>
struct bahdanau_check {
  static constexpr text why() {
    const axes query = one_axis(Ax[0]), key = one_axis(Ax[1]), of_query = one_axis(Ax[2]),
               of_key = one_axis(Ax[3]), hidden = one_axis(Ax[4]);
    message m;
    const call_name call{"bahdanau", query.with(key)};
    if (lacks_axis(m, call, query, of<H>) || lacks_axis(m, call, key, of<S>)) return m;
    trial t;
    const info q = t("dot(h, W)", rule::dot{of_query}, of<H>, of<W>);
    const info k = t("dot(s, U)", rule::dot{of_key}, of<S>, of<U>);
    const info sum = t("hidden", rule::binary<op::add>{}, t("dot(h, W)", rule::broadcast{key}, q),
                       t("dot(s, U)", rule::broadcast{query}, k));
    t("scores", rule::dot{hidden}, sum, of<V>);
    return t.why;
  }
};

template <auto... Ax>
constexpr axes in_a_row() {  // axes_of, an axis that stands there twice kept
  axes s;
  ((s.a[s.n++] = data_of<Ax>), ...);
  return s;
}

}  // namespace detail

// Computes: the scores v' tanh(W h + U s).
// Shapes:   h[.., query, of_query], s[.., key, of_key], W[of_query, hidden], U[of_key, hidden],
//           v[hidden] -> [.., query, key]
// Numerics: as dot.
// Errors:   as dot; h lacks query, or s lacks key.
template <an_axis auto Query, an_axis auto Key, an_axis auto OfQuery, an_axis auto OfKey,
          an_axis auto Hidden, traced H, traced S, traced W, traced U, traced V>
  requires detail::passes<
      detail::bahdanau_check<detail::in_a_row<Query, Key, OfQuery, OfKey, Hidden>(), H, S, W, U, V>>
constexpr auto bahdanau(H h, S s, W w, U u, V v) {
  auto of_query = broadcast<Key>(dot<OfQuery>(h, w));
  auto of_key = broadcast<Query>(dot<OfKey>(s, u));
  return dot<Hidden>(tanh(of_query + of_key), v);
}
template <an_axis auto Query, an_axis auto Key, an_axis auto OfQuery, an_axis auto OfKey,
          an_axis auto Hidden, traced H, traced S, traced W, traced U, traced V,
          class Err = detail::refusal<detail::bahdanau_check<
              detail::in_a_row<Query, Key, OfQuery, OfKey, Hidden>(), H, S, W, U, V>>>
Err bahdanau(H, S, W, U, V);

}  // namespace qkv
