#pragma once
// Operators whose operand is an axis, or a formula that is not called.
#include <qkv/core/call.hpp>

namespace qkv::detail {

template <class T>
concept is_stray =
    an_axis<T> || !formula_text<T>.empty() || !parts_of<T>.empty() || is_misdeclared<T>;
template <class... T>
concept holds_stray = (is_stray<T> || ...) && ((is_stray<T> || operand<T>) && ...);

// An operator, or a function that two operands are enough for.
template <op Kind, class L, class R>
struct stray_operand {
  static constexpr text why() {
    message m;
    if (Kind == op::less && takes_no_axes(m)) return m;
    say_uncalled_or_several_of<L, R>(m, name_of(Kind));
    if (m.empty()) say<L>(m);
    if (m.empty()) say<R>(m);
    return m;
  }
  // softcap<kv>(scores, cap): C++ takes the bracket for a comparison.
  static constexpr bool takes_no_axes(message &m) {
    if constexpr (an_axis<R>)
      if (!formula_text<L>.empty()) {
        m.say(name_of_call(formula_text<L>), " takes no axes").say("write ", formula_text<L>);
        return true;
      }
    return false;
  }
  template <class T>
  static constexpr void say(message &m) {
    const sv name = name_of(Kind);
    say_uncalled<T>(m, name);
    if constexpr (an_axis<T>) {
      const sv ax = T::v.name;
      if (is_comparison(Kind) || Kind == op::add || Kind == op::sub)
        return say_number_wanted(m, name, ax);
      m.say(name, ": ", ax, " is an axis, not a number");
      if (Kind == op::min || Kind == op::max)
        m.say("did you mean ", name, "<", ax, ">(", operand_label<L>(), "), size(", ax,
              ") or index(", ax, ")?");
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

}  // namespace qkv::detail
