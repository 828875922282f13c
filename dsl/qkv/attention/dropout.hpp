// SPDX-License-Identifier: BSL-1.0
#pragma once
// Dropout (Srivastava et al. 2014): training with a random part of the numbers left out.
#include <qkv/core/formula.hpp>
#include <qkv/core/says.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/cast.hpp>
#include <qkv/ops/logic.hpp>
#include <qkv/ops/uniform.hpp>

namespace qkv {
namespace detail {
namespace rule {

struct dropout {
  double p = 0;
  constexpr text check(const info &x, const info &) const {
    message m;
    if (!needs_input(m, {"dropout"}, x) && !(p >= 0 && p < 1))
      m.say("dropout: p is outside of [0, 1)")
          .say("dropout<p>(x, seed): p is the part that is left out")
          .show(x);
    return m;
  }
};

}  // namespace rule

// Marks of x after dropout. The random factor is not a mask.
constexpr marks dropped(marks m, const marks &x) {
  m.hidden.dropped = true;
  m.hidden.zeroed = x.hidden.zeroed;
  m.hidden.gated = x.hidden.gated;
  return m;
}

// Numbers of uniform() below this are left out: P, up to the next multiple of 2^-24.
constexpr double whole_24(double p) {
  const double scaled = p * 0x1p24;
  const auto below = static_cast<long>(scaled);
  return static_cast<double>(below + (static_cast<double>(below) < scaled)) * 0x1p-24;
}

template <auto P>
inline constexpr auto dropping = formula<"dropout(x, seed)">([](traced auto x, operand auto seed) {
  constexpr info of_x = of<decltype(x)>;
  auto random = make_step<rule::uniform{of_x.s}>(seed);
  auto kept = expect<rule::dropout{double{P}}>(x, random);
  if constexpr (P == 0) {
    return kept;
  } else {
    constexpr dtype type = as_float(of_x.m.type);
    auto left = kept * cast<type>(random >= whole_24(P)) * (1 / (1 - double{P}));
    return marked<"dropout", dropped(of<decltype(left)>.m, of_x.m)>(left);
  }
});

// dropout(x, 0.1), dropout<kv>(x, 0.1) and dropout<0.1, 7>(x)
template <class... T>
struct part_in_angles {
  static constexpr text why() {
    message m;
    return m.say("dropout: the part that is left out goes in <>, a number")
        .say("did you mean dropout<0.1>(x, seed)?");
  }
};

template <auto... P>
inline constexpr bool a_part = false;
template <auto P>
inline constexpr bool a_part<P> = std::is_arithmetic_v<decltype(P)>;
template <auto P, class... X>
  requires a_part<P>
using dropped_of = decltype(dropping<P>(std::declval<const X &>()...));

}  // namespace detail

// Computes: 0 with probability P, else x / (1 - P). uniform() chooses the positions from the seed
//           and their place along every axis of x. dropout<0.1>(softmax<kv>(s), seed) are weights
//           that no longer add up to 1: removed ones still counted in the softmax.
// Shapes:   as x; P is a constant, the seed an i32 scalar or a number. One seed for all calls gives
//           one mask: let it change from call to call, and differ (seed + 1) between dropouts of
//           one kernel.
// Numerics: as x times a number. dropout<0> is x itself.
// Errors:   P outside of [0, 1); a seed that is not i32, or not one number.
template <auto P, class... X>
  requires detail::a_part<P> && (!refused<detail::dropped_of<P, X...>>)
constexpr auto dropout(X... x) {
  return detail::dropping<P>(x...);
}
template <auto P, class... X, class Err = detail::dropped_of<P, X...>>
  requires detail::a_part<P> && refused<Err>
Err dropout(X...);
template <auto... P, class... X, class Err = detail::refusal<detail::part_in_angles<X...>>>
  requires(!detail::a_part<P...>)
Err dropout(X...);

}  // namespace qkv
