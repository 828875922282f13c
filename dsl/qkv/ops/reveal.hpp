// SPDX-License-Identifier: BSL-1.0
#pragma once
// Facts that the compiler knows about a step, shown as an error.
#include <qkv/core/rule.hpp>

namespace qkv {
namespace detail::rule {

struct reveal {
  static constexpr text check(const info &x) {
    message m;
    m.say("reveal: ", x.label, " is ", name_of(x.m.type)).show(x);
    say_marks(x.m, [&](const auto &...part) { m.say(part...); });
    return m;
  }
};

}  // namespace detail::rule

// Computes: nothing: an error on this line shows the shape of x, its type and what it is for.
template <traced X, class Err = detail::refusal<detail::applied<detail::rule::reveal{}, X>>>
Err reveal(X);

}  // namespace qkv
