// SPDX-License-Identifier: BSL-1.0
#pragma once
// Calls of operations, softmax<kv>(scores): checks that they have the form of the operation, and
// the correction when they do not.
#include <qkv/core/formula.hpp>

namespace qkv::detail {

// One entry in the angle brackets of a call: an axis, or by mistake a quoted name or a number.
struct given {
  const axis_data *axis = nullptr;
  bool is_axis = false;
  bool quoted = false;
  char written[24]{};

  template <an_axis Ax>
  consteval given(const Ax &) : axis(&Ax::v), is_axis(true) {}
  template <std::size_t N>
  consteval given(const char (&name)[N]) : quoted(true) {
    for (std::size_t i = 0; i + 1 < N && i + 1 < sizeof written; ++i) written[i] = name[i];
  }
  consteval given(long n) {
    text_buffer<sizeof written> t;
    t << n;
    for (std::size_t i = 0; i < t.n; ++i) written[i] = t.b[i];
  }
};

template <given... Ax>
struct brackets {
  static constexpr int count = sizeof...(Ax);
  static constexpr bool all_axes = (Ax.is_axis && ...);
  static constexpr axes named = [] {
    axes s;
    ((Ax.is_axis ? void(s.add(Ax.axis)) : void()), ...);
    return s;
  }();

  // Names in quotes, or numbers, where axes belong.
  static constexpr bool say_not_axes(message &m, sv name) {
    const bool quoted = (Ax.quoted || ...), number = !all_axes && !quoted;
    if (quoted) {
      m.say(name, ": axes are given by their C++ names").say("did you mean ", name, "<");
      [[maybe_unused]] sv between = "";
      ((m << between << (Ax.is_axis ? Ax.axis->name : sv(Ax.written)), between = ", "), ...);
      m << ">, without quotes?";
    } else if (number) {
      m.say(name, ": ");
      [[maybe_unused]] sv between = "";
      ((Ax.is_axis ? void() : void((m << between << Ax.written, between = ", "))), ...);
      m << " is not an axis";
      m.say("axes are given by their C++ names");
    }
    return quoted || number;
  }
  static constexpr void say_count(message &m, sv name) {
    m.say(name, ": ", long{count}, count == 1 ? " axis is" : " axes are", " named");
  }
};

// How a call is written: merge<whole, first, second>(x), softmax<axes..>(x).
struct call_form {
  sv name;
  std::size_t fewest_axes, most_axes, operands;

  consteval call_form(sv call) : name(call.substr(0, call.find_first_of("<("))) {
    const std::size_t open = call.find('(');
    const sv in_angles = call.substr(name.size(), open - name.size());
    fewest_axes = count(in_angles.substr(0, in_angles.find('[')));
    most_axes = in_angles.find("..") == sv::npos ? count(in_angles) : max_axes + 1;
    if (most_axes > max_axes) fewest_axes = 0;
    operands = count(call.substr(open));
  }
  static consteval std::size_t count(sv list) {
    std::size_t n = !list.empty();
    for (char c : list) n += c == ',';
    return n;
  }
};
template <class Rule>
inline constexpr call_form form_of = Rule::call;

// The call that a formula shows: empty for anything else.
template <class T>
inline constexpr sv formula_text{};
template <str Call, class... F>
inline constexpr sv formula_text<formula_t<Call, F...>> = Call.view();

template <class T>
constexpr void say_uncalled(message &m, sv name) {
  if constexpr (!formula_text<T>.empty())
    if (m.empty())
      m.say(name, ": ", name_of_call(formula_text<T>), " is not called")
          .say("write ", formula_text<T>);
}

// A lambda, a pair: neither a step nor a number, an axis or a formula.
template <class T>
constexpr void say_not_a_step(message &m, sv name, long at) {
  say_uncalled_or_several<T>(m, name, at);
  if (m.empty() && !operand<T> && !an_axis<T> && formula_text<T>.empty())
    m.say(name, ": operand ", at, " is neither a step nor a number");
}
template <class... T>
constexpr void say_not_steps(message &m, sv name) {
  [[maybe_unused]] long at = 0;
  (say_not_a_step<T>(m, name, ++at), ...);
}

template <class T>
constexpr sv operand_label() {
  if constexpr (an_axis<T>)
    return T::v.name;
  else
    return of<T>.label;
}

template <class Rule, class Brackets>
inline constexpr bool takes_brackets =
    Brackets::all_axes && Brackets::count >= form_of<Rule>.fewest_axes &&
    Brackets::count <= form_of<Rule>.most_axes;

template <class Rule, class Brackets>
inline constexpr Rule rule_of = [] {
  if constexpr (requires { Rule{Brackets::named}; })
    return Rule{Brackets::named};
  else
    return Rule{};
}();

// A call of an operation, whose rule is made of the axes that it names.
template <class Rule, class Brackets, class... T>
struct call_check {
  // max(x, y) is another operation than max<kv>(x).
  static constexpr bool passes = [] {
    if constexpr (requires { Rule::of_two; })
      return Rule::of_two && sizeof...(T) == 2 && Brackets::count == 0;
    return false;
  }();
  static constexpr text why() {
    constexpr sv name = form_of<Rule>.name;
    message m;
    (say_uncalled<T>(m, name), ...);
    if (!m.empty()) return m;
    if (Brackets::say_not_axes(m, name)) return m;
    if constexpr ((an_axis<T> || ...)) {
      say_stray_axes(m);
      return m;
    } else if constexpr (counts_axes()) {
      m.say(name, ": axes have names, not places");
      return m.say("it takes ", Rule::call).show(first_of(of<T>...));
    } else if constexpr (sizeof...(T) > form_of<Rule>.operands && (operand<T> && ...) &&
                         requires { Rule::surplus(of<T>...); }) {
      return Rule::surplus(of<T>...);
    } else {
      say_not_steps<T...>(m, name);
      if (!m.empty()) return (is_misdeclared<T> || ...) ? m : m.say("it takes ", Rule::call);
      if constexpr (Brackets::count < form_of<Rule>.fewest_axes ||
                    Brackets::count > form_of<Rule>.most_axes)
        Brackets::say_count(m, name);
      else
        m.say(name, " is not called with ", long{sizeof...(T)},
              sizeof...(T) == 1 ? " such operand" : " such operands");
      return m.say("it takes ", Rule::call);
    }
  }

  // softmax(scores, -1)
  static consteval bool counts_axes() {
    if constexpr (sizeof...(T) == 2 && requires { Rule::folds_axes; }) {
      using operands = std::tuple<T...>;
      return Brackets::count == 0 && traced<std::tuple_element_t<0, operands>> &&
             std::integral<std::tuple_element_t<1, operands>>;
    }
    return false;
  }
  static constexpr const info &first_of(const info &x, const auto &...) { return x; }

  template <class X>
  static constexpr void say_axis(message &m) {
    if constexpr (an_axis<X>)
      if (m.empty()) say_number_wanted(m, form_of<Rule>.name, X::v.name);
  }
  static constexpr void say_stray_axes(message &m) {
    constexpr sv name = form_of<Rule>.name;
    if (form_of<Rule>.most_axes == 0) {
      (say_axis<T>(m), ...);
      return;
    }
    m.say(name, ": axes belong in <>, operands in ()").say("did you mean ", name, "<");
    sv between = "";
    for (const axis_data *a : Brackets::named) m << between << a->name, between = ", ";
    (put<T>(m, between, true), ...);
    m << ">(", between = "";
    (put<T>(m, between, false), ...);
    m << ")?";
  }
  template <class X>
  static constexpr void put(message &m, sv &between, bool axes_wanted) {
    if (an_axis<X> != axes_wanted) return;
    m << between << operand_label<X>();
    between = ", ";
  }
};

// The axes, the one at from in place to.
constexpr axes moved(axes s, int from, int to) {
  const int step = from < to ? 1 : -1;
  for (int i = from; i != to; i += step) std::swap(s.a[i], s.a[i + step]);
  return s;
}

// The one axis in another place, or the one exchange of both operands, that makes the call fit:
// empty for none. Of several places, the nearest: the other axes keep their order.
template <class Rule, class... X>
constexpr text exchanged(sv name, const Rule &rule, const X &...x) {
  constexpr bool two = sizeof...(X) == 2;
  text fix;
  int fits = 0;
  const info operands[] = {x..., {}};
  const auto try_axes = [&](const axes &over) {
    if constexpr (requires { Rule{over}; })
      if (Rule{over}.check(x...).empty() && fits++ == 0) put_call(fix, {name, over}, x.label...);
  };
  if constexpr (!std::is_empty_v<Rule>)
    for (int far = 1; far < rule.over.n && fits == 0; ++far)
      for (int i = 0; i + far < rule.over.n; ++i) {
        try_axes(moved(rule.over, i, i + far));
        if (far > 1) try_axes(moved(rule.over, i + far, i));
      }
  if constexpr (two)
    if (rule.check(operands[1], operands[0]).empty() && fits++ == 0)
      put_call(fix, {name, rule.over}, operands[1].label, operands[0].label);
  return fits == 1 ? fix : text();
}

template <class Rule, class Brackets, class... T>
  requires(takes_brackets<Rule, Brackets> && sizeof...(T) == form_of<Rule>.operands &&
           (operand<T> && ...))
struct call_check<Rule, Brackets, T...> {
  static constexpr const Rule &rule = rule_of<Rule, Brackets>;
  static constexpr bool passes = in_formula<T...> || detail::passes<applied<rule, T...>>;
  static constexpr text why() {
    const text t = rule.check(of<T>...);
    const text fix = exchanged(form_of<Rule>.name, rule, of<T>...);
    return fix.empty() ? t : with_fix(t, fix);
  }
};

template <class Rule, class Brackets, class... T>
using wrong_call = refusal<call_check<Rule, Brackets, T...>>;

}  // namespace qkv::detail
