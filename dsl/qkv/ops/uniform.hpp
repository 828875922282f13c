// SPDX-License-Identifier: BSL-1.0
#pragma once
// Random numbers.
#include <qkv/core/call.hpp>

namespace qkv {
namespace detail::rule {

struct uniform {
  axes over{};
  static constexpr sv call = "uniform<axes..>(seed)";
  static constexpr op kind = op::uniform;
  static constexpr dtype number = i32;

  constexpr text check(const info &seed) const {
    message m;
    const call_name call{"uniform", over};
    if (seed.m.type != i32)
      return m.say(call, ": the seed ", seed.label, " is ", name_of(seed.m.type), ", not i32")
          .show(seed);
    if (!seed.s.empty())
      return m.say(call, ": the seed ", seed.label, " varies along ", seed.s).show(seed);
    if (too_many_axes(m, call, over)) m.show(seed);
    return m;
  }
  constexpr axes shape(const info &) const { return over; }
  constexpr marks meaning(const info &) const { return {}; }
};

}  // namespace detail::rule

// Computes: a number of [0, 1) at each position, a hash of the seed and of the position along each
//           axis (core/hash.hpp): the same in every kernel, on every machine, in any order of
//           computation. Another seed gives independent numbers; the same seed over the same axes
//           the same ones.
// Shapes:   [ax...]
// Numerics: f32, a multiple of 2^-24.
// Errors:   a seed that is not i32, or not one number.
template <an_axis auto... Ax, operand Seed>
  requires detail::fits<detail::rule::uniform{core::axes_of<Ax...>()}, Seed>
constexpr auto uniform(Seed seed) {
  return detail::make_step<detail::rule::uniform{core::axes_of<Ax...>()}>(seed);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::uniform, detail::brackets<Ax...>, T...>>
Err uniform(T...);

}  // namespace qkv
