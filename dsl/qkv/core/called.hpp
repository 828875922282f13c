// SPDX-License-Identifier: BSL-1.0
#pragma once
// A step that is called as a function: its name hides the function that was meant, or a condition
// is handed scores.
#include <qkv/core/label.hpp>
#include <qkv/core/message.hpp>
#include <qkv/core/op.hpp>
#include <qkv/core/shape_error.hpp>

namespace qkv::detail {

// Those that are not the name of an operation.
inline constexpr sv other_functions[] = {
    "alibi",   "alibi_slopes", "bahdanau",      "cached_causal", "causal",        "differential",
    "dilated", "document",     "dropout",       "filled",        "global_window", "grouped_query",
    "has",     "layer_norm",   "let",           "mask_rows",     "multi_head",    "nystrom",
    "padding", "plain",        "prefix",        "project",       "qk_norm",       "relative_bias",
    "reveal",  "rms_norm",     "rope",          "rope_angle",    "slice",         "sliding_window",
    "softcap", "t5_bias",      "talking_heads", "unit_length",   "with_bias",     "zeros"};

constexpr bool is_function(sv name) {
  for (const op_facts &o : op_table)
    if (o.name == name && is_called(o.kind)) return true;
  for (const sv function : other_functions)
    if (function == name) return true;
  return false;
}

// The function whose name the step has, or that gave it: mask of mask, softmax of softmax(scores).
// A variable that holds the result of a function often has its name. Empty where there is none.
constexpr sv function_of(sv label) {
  const sv name = label.substr(0, label.find('('));
  return is_function(name) && !is_infix(label) ? name : sv();
}

constexpr void say_hidden(message &m, sv function, sv what, sv call) {
  m.say(function, ": a ", what, " of this name hides the function")
      .say("did you mean qkv::", call, "? or give the ", what, " another name");
}

template <class T>
constexpr void put_argument(text &t, bool infix) {
  if constexpr (requires { T::v.name; })
    t << T::v.name;
  else if (of<T>.kind == form::other || of<T>.number())
    t << "..";
  else
    put_operand(t, of<T>.label, infix);
}
template <class... T>
constexpr text arguments_of(bool infix = false) {
  text t;
  [[maybe_unused]] sv between = "";
  ((t << between, put_argument<T>(t, infix), between = ", "), ...);
  return t;
}

// T: the types of the arguments.
template <const info &Facts, class... T>
struct called {
  static constexpr text why() {
    message m;
    if constexpr ((std::is_arithmetic_v<T> && ...)) {
      return m.say("a step is not a function").say("leave the () out");
    } else {
      const sv step = Facts.label, function = function_of(step);
      if (Facts.m.type == b8 && sizeof...(T) == 1 && (hides<T>() && ...))
        return m.say(step, " is a condition, not a function")
            .say("did you mean ", is_function(step) ? "qkv::" : "", "mask(", arguments_of<T...>(),
                 ", ", step, ")?");
      if (!function.empty()) {
        say_hidden(m, function, "step",
                   (text() << function << "(" << arguments_of<T...>() << ")").view());
        return m;
      }
      m.say("a step is not a function: ", step);
      if (Facts.m.type != b8 && sizeof...(T) == 1 && (traced<T> && ...))
        m.say("did you mean ", step, " * ", arguments_of<T...>(true), "? or leave the () out");
      else
        m.say("leave the () out");
      return m;
    }
  }
  // True of what the step may mask.
  template <class X>
  static constexpr bool hides() {
    return of<X>.tensor() && of<X>.m.type != b8 && of<X>.m.type != i32 && of<X>.s.contains(Facts.s);
  }
};

template <str Name, class... T>
struct kernel_called {
  static constexpr text why() {
    message m;
    if (const sv name = Name.view(); is_function(name))
      say_hidden(m, name, "kernel", (text() << name << "(" << arguments_of<T...>() << ")").view());
    else
      m.say(name, " is a kernel, not a function of steps")
          .say("what kernels share is a function or a formula; at run time, call<", name, ">(..)");
    return m;
  }
};

}  // namespace qkv::detail
