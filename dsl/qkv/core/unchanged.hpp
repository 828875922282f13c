#pragma once
// A step is a value: the operators that would change it, and that of arrays, are errors that name
// the replacement.
#include <qkv/core/message.hpp>
#include <qkv/core/shape_error.hpp>

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
    return m.say("a step cannot be indexed with []").say("did you mean take<axis>(x, position)?");
  }
};

}  // namespace qkv::detail

namespace qkv::core {

struct unchanged {
  template <class T, class Err = detail::refusal<detail::changed<T>>>
  Err operator=(const T &);
  template <class T, class Err = detail::refusal<detail::indexed<T>>>
  Err operator[](T) const;
};

}  // namespace qkv::core
