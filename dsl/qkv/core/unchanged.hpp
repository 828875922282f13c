// SPDX-License-Identifier: BSL-1.0
#pragma once
// A step is a value: the operators that would change it, and that of arrays, are errors that name
// the replacement.
#include <qkv/core/no_methods.hpp>

namespace qkv::detail {

// T makes each check depend on its call, so that a step alone does not evaluate it.
template <class... T>
struct changed {
  static constexpr text why() {
    message m;
    return m.say("a step cannot be changed in place")
        .say("give the new one a name of its own: auto next = ..;");
  }
};

template <class... T>
struct indexed {
  static constexpr text why() {
    message m;
    return m.say("a step cannot be indexed with []")
        .say("did you mean take<axis>(x, position)? keys that a condition hides: mask(x, keep)");
  }
};

}  // namespace qkv::detail

namespace qkv::core {

struct unchanged : no_methods {
  template <class X, class Err = detail::refusal<detail::changed<X>>>
  Err operator=(const X &);
  template <class X, class Err = detail::refusal<detail::indexed<X>>>
  Err operator[](X) const;
};

}  // namespace qkv::core
