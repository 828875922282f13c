// SPDX-License-Identifier: BSL-1.0
#pragma once
// Messages for operands that are not steps: misdeclared inputs, several results in one object,
// functions without ().
#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include <qkv/core/rule.hpp>

namespace qkv::detail {

// The names of the results in one object: .result and .last of a scan. Empty for others.
template <class T>
inline constexpr sv parts_of{};

template <class T>
inline constexpr bool is_misdeclared = of<T>.kind == form::misdeclared;

constexpr void say_misdeclared(message &m, const info &x) {
  if (x.m.fault.stray)
    m.say(x.label, " names what is neither an axis nor a type")
        .say("axes have names: axis<.., 64> or batch_axis<..>, and one type is enough");
  else
    m.say(x.label, " names axis ", x.m.fault.twice->name, " twice")
        .say("one of them is another axis: an alias<.., ", x.m.fault.twice->name, ">");
}

// How many steps a tuple, a pair or an array of them holds; 0 for anything else.
template <class T>
inline constexpr long steps_in = 0;
template <operand... T>
inline constexpr long steps_in<std::tuple<T...>> = sizeof...(T);
template <operand A, operand B>
inline constexpr long steps_in<std::pair<A, B>> = 2;
template <operand T, std::size_t N>
inline constexpr long steps_in<std::array<T, N>> = N;

// std::tuple{h, c} where the state of a recurrence belongs.
constexpr text say_several_states(message &m, const call_name &call, long states) {
  return m.say(call, ": a scan carries one state, not ", states)
      .say(
          "did you mean a scan for each? states that need each other are one: "
          "concat<both>(a, b), then slice<both, a>(state, 0)");
}

// An input whose declaration is wrong, several results in one object, or zeros<..> without its
// parentheses.
template <class T>
constexpr void say_uncalled_or_several(message &m, sv call, long operand) {
  if (!m.empty()) return;
  if (is_misdeclared<T>) return say_misdeclared(m, of<T>);
  if (!parts_of<T>.empty())
    m.say(call, ": operand ", operand, " holds several results").say("write ", parts_of<T>);
  else if (std::is_function_v<std::remove_pointer_t<T>>)
    m.say(call, ": operand ", operand, " is a function that is not called")
        .say("add () to call it");
}
template <class... T>
constexpr void say_uncalled_or_several_of(message &m, [[maybe_unused]] sv call) {
  [[maybe_unused]] long operand = 0;
  (say_uncalled_or_several<T>(m, call, ++operand), ...);
}

}  // namespace qkv::detail
