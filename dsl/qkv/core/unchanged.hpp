#pragma once
// A step is a value: the operators that would change it, and those of functions and lists, say what
// to write in their place.
#include <qkv/core/info.hpp>
#include <qkv/core/message.hpp>
#include <qkv/core/shape_error.hpp>

namespace qkv::detail {

// (T: so that they are evaluated where they are called.)
template <const info &Facts, str Operator, class T>
struct changed {
  static constexpr text why() {
    message m;
    m.say(Operator.view(), ": a step is not changed in place");
    if (constexpr sv op = Operator.view().substr(0, Operator.view().size() - 1); op.empty())
      return m.say("give the new one a name of its own: auto next = ..;");
    else
      return m.say("give the new one a name of its own: auto next = ", Facts.label, " ", op,
                   " ..;");
  }
};

template <const info &Facts, class... T>
struct called {
  static constexpr text why() {
    message m;
    return m.say(Facts.label, " is a step, not a function").say("leave the () out");
  }
};

template <const info &Facts, class T>
struct indexed {
  static constexpr text why() {
    message m;
    m.say(Facts.label, " has no []");
    return m.say("did you mean take<axis>(", Facts.label, ", position)?");
  }
};

}  // namespace qkv::detail
