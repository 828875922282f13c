#pragma once
// Dropout (Srivastava et al. 2014): training with a random part of the numbers left out.
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/cast.hpp>
#include <qkv/ops/logic.hpp>
#include <qkv/ops/uniform.hpp>

namespace qkv {
namespace detail {

template <auto P, class X, class Seed>
struct dropout_check {
  static constexpr text why() {
    message m;
    if (needs_input(m, {"dropout"}, of<X>)) return m;
    if (!(P >= 0 && P < 1))
      return m.say("dropout: p is outside of [0, 1)")
          .say("dropout<p>(x, seed): p is the part that is left out")
          .show(of<X>);
    return rule::uniform{of<X>.s}.check(of<Seed>);
  }
};

// Numbers of uniform() below this are left out: P, up to the next multiple of 2^-24.
constexpr double whole_24(double p) {
  const double scaled = p * 0x1p24;
  const auto below = static_cast<long>(scaled);
  return static_cast<double>(below + (static_cast<double>(below) < scaled)) * 0x1p-24;
}

}  // namespace detail

// Computes: 0 with probability P, else x / (1 - P); which positions, uniform() decides by the seed
//           and their place along every axis of x. dropout<0.1>(softmax<kv>(s), seed) are weights
//           that no longer add up to 1: what is left out still counted in the softmax.
// Shapes:   as x; P is a constant, the seed an i32 scalar or a number. One seed for all calls gives
//           one mask: let it change from call to call, and differ (seed + 1) between dropouts of
//           one kernel.
// Numerics: as x times a number. dropout<0> is x itself.
// Errors:   P outside of [0, 1); a seed that is not i32, or not one number.
template <auto P, traced X, operand Seed>
  requires detail::passes<detail::dropout_check<P, X, Seed>>
constexpr auto dropout(X x, Seed seed) {
  if constexpr (P == 0) {
    return x;
  } else {
    constexpr detail::info of_x = detail::of<X>;
    constexpr dtype type = detail::as_float(of_x.m.type);
    const auto random = detail::make_step<detail::rule::uniform{of_x.s}>(seed);
    return x * cast<type>(random >= detail::whole_24(P)) * (1 / (1 - double{P}));
  }
}
template <auto P, traced X, operand Seed,
          class Err = detail::refusal<detail::dropout_check<P, X, Seed>>>
Err dropout(X, Seed);

}  // namespace qkv
