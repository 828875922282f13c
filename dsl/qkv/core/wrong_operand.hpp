// SPDX-License-Identifier: BSL-1.0
#pragma once
// Operators whose operand is an axis, or a formula that is not called.
#include <qkv/core/call.hpp>

namespace qkv {

template <str Name, class F>
struct kernel_t;

namespace detail {

// The name of a kernel, which may be that of a function. Empty for anything else.
template <class T>
inline constexpr sv kernel_name{};
template <str Name, class F>
inline constexpr sv kernel_name<kernel_t<Name, F>> = Name.view();

template <class T>
concept is_stray = an_axis<T> || !formula_text<T>.empty() || !parts_of<T>.empty() ||
                   is_misdeclared<T> || !kernel_name<T>.empty();
template <class... T>
concept holds_stray = (is_stray<T> || ...) && ((is_stray<T> || operand<T>) && ...);

// An operator, or a function that two operands are enough for.
template <op Kind, class L, class R>
struct stray_operand {
  static constexpr text why() {
    message m;
    if (Kind == op::less && (takes_no_axes(m) || hides_function(m))) return m;
    say_uncalled_or_several_of<L, R>(m, name_of(Kind));
    if constexpr (an_axis<L> && an_axis<R>)
      say_two(m, L::v.name, R::v.name);
    else
      say<L, R>(m), say<R, L>(m);
    say_kernel<L>(m), say_kernel<R>(m);
    return m;
  }
  template <class T>
  static constexpr void say_kernel(message &m) {
    if (!kernel_name<T>.empty() && m.empty())
      m.say(name_of(Kind), ": ", kernel_name<T>, " is a kernel, not a step")
          .say("what kernels share is a function or a formula");
  }
  // softcap<kv>(scores, cap): C++ takes the bracket for a comparison.
  static constexpr bool takes_no_axes(message &m) {
    if constexpr (an_axis<R> || std::is_arithmetic_v<R>)
      if (!formula_text<L>.empty()) {
        m.say(name_of_call(formula_text<L>), an_axis<R> ? " takes no axes" : " takes nothing in <>")
            .say("write ", formula_text<L>);
        return true;
      }
    return false;
  }
  // softmax<kv>(scores), where a step or a kernel has the name of the function.
  static constexpr bool hides_function(message &m) {
    if constexpr (an_axis<R>) {
      sv function = kernel_name<L>;
      if constexpr (traced<L>) function = function_of(of<L>.label);
      if (!function.empty())
        say_hidden(m, function, traced<L> ? "step" : "kernel",
                   (text() << function << "<..>(..)").view());
    }
    return !m.empty();
  }
  // nq * nk, seq - kv
  static constexpr void say_two(message &m, sv l, sv r) {
    if (!m.empty()) return;
    const sv name = name_of(Kind);
    const bool compares = is_comparison(Kind);
    m.say(name, ": ", l, " and ", r, " are axes, not numbers");
    if (Kind == op::and_ || Kind == op::or_) {
      m.say("did you mean a mask?");
    } else if (!is_infix(Kind)) {
      m.say("did you mean ", name, "(size(", l, "), size(", r, "))?");
    } else {
      m.say("did you mean ");
      if (compares || Kind == op::sub) m << "index(" << l << ") " << name << " index(" << r << ")";
      if (Kind == op::sub) m << " or ";
      if (!compares) m << "size(" << l << ") " << name << " size(" << r << ")";
      m << "?";
    }
  }
  template <class T, class Other>
  static constexpr void say(message &m) {
    const sv name = name_of(Kind);
    say_uncalled<T>(m, name);
    if constexpr (an_axis<T>) {
      if (!m.empty()) return;
      const sv ax = T::v.name;
      if (is_comparison(Kind) || Kind == op::add || Kind == op::sub) {
        say_number_wanted(m, name, ax);
        if (Kind == op::less && tensor_expr<Other>)
          m.say("or does the name of a step hide a function? qkv::name<", ax, ">(..)");
        return;
      }
      const bool divides = Kind == op::div && std::is_same_v<T, R>;
      m.say(name, ": ", ax, " is an axis, not a number");
      if ((Kind == op::min || Kind == op::max) && traced<Other>)
        m.say("did you mean ", name, "<", ax, ">(", operand_label<Other>(), "), size(", ax,
              ") or index(", ax, ")?");
      else if (Kind == op::and_ || Kind == op::or_)
        m.say("did you mean a mask?");
      else if (traced<Other> || divides || Kind == op::pow)
        m.say("did you mean sqrt(", ax, ") or size(", ax, ")?");
      else
        m.say("did you mean size(", ax, ")?");
    }
  }
};

// Operators that take no axis, of which every one is a name: -d_k, d_k % 2.
template <str Name, class... T>
struct stray_axis {
  static constexpr text why() {
    message m;
    (say<T>(m), ...);
    return m;
  }
  template <class X>
  static constexpr void say(message &m) {
    if constexpr (an_axis<X>)
      if (m.empty()) say_number_wanted(m, Name.view(), X::v.name);
  }
};

// The rule of an operator judges operands; a stray axis or formula is refused before.
template <auto Rule, class L, class R>
struct binary_call {
  static constexpr bool passes = true;  // for others to refuse
};
template <auto Rule, class L, class R>
  requires(operands<L, R> && !in_formula<L, R>)
struct binary_call<Rule, L, R> : applied<Rule, L, R> {};
template <auto Rule, class L, class R>
  requires holds_stray<L, R>
struct binary_call<Rule, L, R> : stray_operand<Rule.kind, L, R> {};

}  // namespace detail
}  // namespace qkv
