#pragma once
// Dropout (Srivastava et al. 2014): training with a random part of the numbers left out.
#include <qkv/core/formula.hpp>
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
  m.dropped = true;
  m.zeroed = x.zeroed;
  m.gated = x.gated;
  return m;
}

// Numbers of uniform() below this are left out: P, up to the next multiple of 2^-24.
constexpr double whole_24(double p) {
  const double scaled = p * 0x1p24;
  const auto below = static_cast<long>(scaled);
  return static_cast<double>(below + (static_cast<double>(below) < scaled)) * 0x1p-24;
}

}  // namespace detail

// Computes: 0 with probability P, else x / (1 - P). uniform() chooses the positions from the seed
//           and their place along every axis of x. dropout<0.1>(softmax<kv>(s), seed) are weights
//           that no longer add up to 1: removed ones still counted in the softmax.
// Shapes:   as x; P is a constant, the seed an i32 scalar or a number. One seed for all calls gives
//           one mask: let it change from call to call, and differ (seed + 1) between dropouts of
//           one kernel.
// Numerics: as x times a number. dropout<0> is x itself.
// Errors:   P outside of [0, 1); a seed that is not i32, or not one number.
template <auto P>
inline constexpr auto dropout = formula<"dropout(x, seed)">([](traced auto x, operand auto seed) {
  constexpr detail::info of_x = detail::of<decltype(x)>;
  auto random = detail::make_step<detail::rule::uniform{of_x.s}>(seed);
  auto kept = detail::expect<detail::rule::dropout{double{P}}>(x, random);
  if constexpr (P == 0) {
    return kept;
  } else {
    constexpr dtype type = detail::as_float(of_x.m.type);
    auto left = kept * cast<type>(random >= detail::whole_24(P)) * (1 / (1 - double{P}));
    return detail::marked<"dropout", detail::dropped(detail::of<decltype(left)>.m, of_x.m)>(left);
  }
});

}  // namespace qkv
