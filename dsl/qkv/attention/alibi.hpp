// SPDX-License-Identifier: BSL-1.0
#pragma once
// Attention with linear biases (Press, Smith, Lewis 2022).
#include <qkv/attention/causal.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/broadcast.hpp>

namespace qkv {
namespace detail {

// x, also along the axes of y that it lacks where a product of both requires it.
template <class X, class Y>
constexpr auto repeated_for(const X &x, const Y &) {
  constexpr axes lacking = of<Y>.s.without(of<X>.s);
  if constexpr (of<X>.tensor() && of<Y>.tensor() && !lacking.empty()) {
    return make_step<rule::broadcast{lacking}>(x);
  } else {
    return x;
  }
}

namespace rule {

struct slopes {
  axes measured{};  // queries and keys
  constexpr text check(const info &x) const {
    message m;
    for (int k = 0; k < measured.n; ++k)
      if (x.s.has(measured[k]))
        return m
            .say("alibi: ", x.label, " varies along ", measured[k]->name,
                 ", whose distances it multiplies")
            .say("each head has a slope: alibi_slopes(heads); if it is meant, - x * abs(..)")
            .show(x);
    if (x.label.starts_with("-"))
      m.say("alibi: ", x.label, " has a minus, but the bias subtracts the slope times the distance")
          .say("leave the minus out; if it is meant, let<\"slope\">(..)")
          .show(x);
    return m;
  }
};

}  // namespace rule

template <class T>
struct batch_axis_wanted {
  static constexpr bool passes = [] {
    if constexpr (an_axis<T>) return T::v.batch;
    return false;
  }();
  static constexpr text why() {
    message m;
    if constexpr (an_axis<T>)
      return m.say("alibi_slopes: ", T::v.name, " is not a batch axis")
          .say("each head has a slope: alibi_slopes(heads)");
    else
      return axis_wanted<"alibi_slopes", T>::why();
  }
};

}  // namespace detail

// Computes: 2^(-8 (h + 1) / H) of head h, H heads: the slopes of the paper.
// Shapes:   [heads]
// Numerics: f32.
// Errors:   an axis that is not a batch axis: slopes belong to heads.
template <an_axis Heads>
  requires(Heads::v.batch)
constexpr auto alibi_slopes(Heads heads) {
  return pow(2.0, (index(heads) + 1) * -8.0 / size(heads));
}

template <class T, class Err = detail::refusal<detail::batch_axis_wanted<T>>>
Err alibi_slopes(T);

// Computes: -slope * |distance between key and query|, to be added to scores:
//           scores + alibi<seq, kv>(alibi_slopes(heads)), or with a param<"slope", heads>. Over a
//           cache: alibi<seq, slots>(slope, length), as sliding_window.
// Shapes:   those of slope, [key, query] and those of length and count
// Numerics: f32.
// Errors:   as sliding_window; a slope with a minus, since the bias subtracts it already; a slope
//           along the queries or the keys.
template <an_axis auto Query, an_axis auto Key, detail::alignment Where = align::unsaid>
inline constexpr auto alibi =
    formula<"alibi(slope[, length[, count]])">([](operand auto slope, operand auto... cache) {
      auto far = abs(detail::distance<Query, Key, Where>(cache...));
      return detail::relating<core::relation::alibi, Query, Key, Where>(
          detail::expect<detail::rule::slopes{core::axes_of<Query, Key>()}>(slope) *
              -detail::repeated_for(far, slope),
          cache...);
    });
template <an_axis auto Query, an_axis auto Key, detail::alignment Where>
  requires(Where.stray)
inline constexpr auto alibi<Query, Key, Where> =
    detail::number_in_brackets<"alibi", core::axes_of<Query, Key>(), Where>;

}  // namespace qkv
