#pragma once
// A step is a value that nobody knows yet: the operators that would change it, that of arrays and
// conversions to numbers are errors that name the replacement.
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

// float x = sum<kv>(s); and if (x > 0): a step has no value before the kernel runs.
template <class T>
struct converted {
  static constexpr text why() {
    message m;
    m.say("a step has no value yet: the kernel computes it");
    return std::is_same_v<T, bool>
               ? m.say("did you mean where(condition, yes, no)?")
               : m.say("functions of steps take auto, and are those of qkv: exp, sqrt, max");
  }
};

}  // namespace qkv::detail

namespace qkv::core {

struct unchanged {
  template <class T, class Err = detail::refusal<detail::changed<T>>>
  Err operator=(const T &);
  template <class T, class Err = detail::refusal<detail::indexed<T>>>
  Err operator[](T) const;
  template <class T, class Err = detail::refusal<detail::converted<T>>>
    requires std::is_arithmetic_v<T>
  operator T() const = delete;
};

}  // namespace qkv::core
