#pragma once
// Calls that no rule sees: axes, quoted names and uncalled formulas where operands belong.
#include <qkv/core/formula.hpp>

namespace qkv::detail {

// The call that a formula shows: empty for what is none.
template <class T>
inline constexpr sv formula_text{};
template <str Call, class... F>
inline constexpr sv formula_text<formula_t<Call, F...>> = Call.view();

template <class T>
concept is_stray = an_axis<T> || !formula_text<T>.empty();
template <class... T>
concept holds_stray = (is_stray<T> || ...) && ((is_stray<T> || operand<T>) && ...);

template <class T>
constexpr void say_uncalled(message &m, sv name) {
  if constexpr (!formula_text<T>.empty())
    if (m.empty())
      m.say(name, ": ", name_of_call(formula_text<T>), " is not called")
          .say("write ", formula_text<T>);
}

template <class T>
constexpr sv operand_label() {
  if constexpr (an_axis<T>)
    return T::v.name;
  else
    return of<T>.label;
}

// An operator, or a function that two operands are enough for.
template <op Kind, class L, class R>
struct stray_operand {
  static constexpr text why() {
    message m;
    say<L>(m);
    if (m.empty()) say<R>(m);
    return m;
  }
  template <class T>
  static constexpr void say(message &m) {
    const sv name = name_of(Kind);
    say_uncalled<T>(m, name);
    if constexpr (an_axis<T>) {
      const sv ax = T::v.name;
      m.say(name, ": ", ax, " is an axis, not a number");
      if (Kind == op::min || Kind == op::max)
        m.say("did you mean ", name, "<", ax, ">(", operand_label<L>(), "), size(", ax,
              ") or index(", ax, ")?");
      else if (is_comparison(Kind) || Kind == op::add || Kind == op::sub)
        m.say("did you mean index(", ax, ") or size(", ax, ")?");
      else if (Kind == op::and_ || Kind == op::or_)
        m.say("did you mean a mask?");
      else
        m.say("did you mean sqrt(", ax, ") or size(", ax, ")?");
    }
  }
};

// The rule of an operator judges operands; a stray axis or formula is refused before.
template <auto Rule, class L, class R>
struct binary_call {
  static constexpr bool passes = true;  // for others to refuse
};
template <auto Rule, class L, class R>
  requires(operands<L, R> && !in_formula<L, R>)
struct binary_call<Rule, L, R> : verdict<Rule, L, R> {};
template <auto Rule, class L, class R>
  requires holds_stray<L, R>
struct binary_call<Rule, L, R> : stray_operand<Rule.kind, L, R> {};

// A function that takes its axes in <>.
template <str Name, axes Over, class... T>
struct stray_axes {
  static constexpr bool passes = !holds_stray<T...>;
  static constexpr text why() {
    message m;
    (say_uncalled<T>(m, Name.view()), ...);
    if (!m.empty()) return m;
    m.say(Name.view(), ": axes stand in <>, operands in ()").say("did you mean ", Name.view(), "<");
    sv between = "";
    for (const axis_data *a : Over) m << between << a->name, between = ", ";
    (put<T>(m, between, true), ...);
    m << ">(", between = "";
    (put<T>(m, between, false), ...);
    m << ")?";
    return m;
  }
  template <class X>
  static constexpr void put(message &m, sv &between, bool axes_wanted) {
    if (an_axis<X> != axes_wanted) return;
    m << between << operand_label<X>();
    between = ", ";
  }
};

// Names of axes in quotes.
template <str Name, str... Quoted>
struct quoted_axes {
  static constexpr bool passes = sizeof...(Quoted) == 0;
  static constexpr text why() {
    message m;
    m.say(Name.view(), ": axes are given by their C++ names")
        .say("did you mean ", Name.view(), "<");
    sv between = "";
    ((m << between << Quoted.view(), between = ", "), ...);
    m << ">, without quotes?";
    return m;
  }
};

// Masks are joined by operators.
template <class... Keep>
struct joined_masks {
  static constexpr bool passes = sizeof...(Keep) < 2 || in_formula<Keep...>;
  static constexpr text why() {
    message m;
    m.say("mask: takes one keep").say("did you mean mask(scores, ");
    sv between = "";
    ((m << between << of<Keep>.label, between = " and "), ...);
    m << ")?";
    return m;
  }
};

}  // namespace qkv::detail
