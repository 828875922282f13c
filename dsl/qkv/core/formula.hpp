// SPDX-License-Identifier: BSL-1.0
#pragma once
// Functions over operations, written once: a wrong call is one error on the caller's line, whatever
// step of the formula refuses it.
#include <array>
#include <tuple>
#include <utility>

#include <qkv/core/not_a_step.hpp>
#include <qkv/core/relation.hpp>
#include <qkv/core/roles.hpp>
#include <qkv/core/step.hpp>

namespace qkv {
namespace detail {

// A formula returns a step, or several in a pair, a tuple or a class that specializes this.
template <class R>
struct outcome {
  static constexpr bool passes = true;
  static constexpr text why() { return {}; }
  static constexpr auto bare(const R &r) { return as_checked<false>(r); }
};
template <class Check>
struct outcome<refused_by<Check>> {
  static constexpr bool passes = false;
  static constexpr text why() { return Check::why(); }
};
template <class... R>
struct outcomes {
  static constexpr bool passes = (outcome<R>::passes && ...);
  static constexpr text why() {
    text t;
    ((t = t.empty() ? outcome<R>::why() : t), ...);
    return t;
  }
};
template <class A, class B>
struct outcome<std::pair<A, B>> : outcomes<A, B> {
  static constexpr auto bare(const std::pair<A, B> &r) {
    return std::pair{outcome<A>::bare(r.first), outcome<B>::bare(r.second)};
  }
};
template <class... R>
struct outcome<std::tuple<R...>> : outcomes<R...> {
  static constexpr auto bare(const std::tuple<R...> &r) {
    return std::apply([](const R &...x) { return std::tuple{outcome<R>::bare(x)...}; }, r);
  }
};

// A call shows a name for each operand, scores and cap of softcap(scores, cap). With dots it takes
// any number of them: total(x, rest..).
constexpr std::size_t most_operands(sv call) {
  if (call.find("..") != call.npos) return call.npos;
  std::size_t n = call.find("()") == call.npos;
  for (char c : call) n += c == ',';
  return n;
}

constexpr sv name_of_call(sv call) { return call.substr(0, call.find('(')); }

// The result of a call is named by it, except for a relation of queries to keys, which has its own
// name.
template <str Call, class... X>
inline constexpr label_text call_text =
    call_label(name_of_call(Call.view()), of<X>.kind == form::other ? sv("..") : of<X>.label...);

constexpr bool is_relation(const info &x) {
  const placing &p = x.m.sides.placed;
  return p.from != origin::unsaid && x.label == related_pair(p.by, p.query, p.key).view();
}

template <str Call, class... X, class R>
[[gnu::always_inline]] constexpr auto call_named(const R &result) {
  constexpr bool is_operand = (std::is_same_v<R, X> || ...);
  if constexpr (traced<R> && !of<R>.refused && !is_operand && !is_relation(of<R>))
    return marked<as_str<call_text<Call, X...>>, of<R>.m>(result);
  else
    return result;
}

template <class... F>
struct overloads : F... {
  using F::operator()...;
};

// Operands are checked; axes, functions and with_bias() are passed on.
template <class X>
using entered = decltype(as_checked<true>(std::declval<const X &>()));

// X: as entered.
template <str Call, class Forms, class... X>
struct formula_call {
  static constexpr bool taken = false;
  static constexpr bool passes = false;

  // The forms take other operands.
  static constexpr text why() {
    constexpr sv name = name_of_call(Call.view());
    message m;
    (say_axis<X>(m, name), ...);
    say_uncalled_or_several_of<X...>(m, name);
    if ((is_misdeclared<X> || ...)) return m;
    if (m.empty())
      m.say(name, " is not called with ", long{sizeof...(X)},
            sizeof...(X) == 1 ? " such operand" : " such operands");
    return m.say("it takes ", Call.view());
  }
  template <class T>
  static constexpr void say_axis(message &m, sv name) {
    if constexpr (an_axis<T>) {
      if (!m.empty()) return;
      m.say(name, ": ", T::v.name, " is an axis, not a step");
      if (Call.view().find("(slope") != sv::npos)
        m.say("did you mean alibi_slopes(", T::v.name, ")?");
      else
        m.say("index(", T::v.name, ") counts its positions, size(", T::v.name,
              ") is how many there are");
    }
  }
};
template <str Call, class Forms, class... X>
  requires(sizeof...(X) <= most_operands(Call.view()) &&
           requires(const Forms &f, const X &...x) { f(x...); })
struct formula_call<Call, Forms, X...>
    : outcome<decltype(std::declval<const Forms &>()(std::declval<const X &>()...))> {
  static constexpr bool taken = true;
};

// A call that was refused. Where a step lacks an axis, or takes another type, and one exchange of
// two neighbours makes the call fit, that is the likely fix. (Exchanged ends are rather exchanged
// axes: scaled_dot_product<kv, d_k>(Q, K, V) fits as (V, K, Q), too.)
template <str Call, class Forms, class... X>
struct refused_call {
  using call = formula_call<Call, Forms, X...>;
  using operands = std::tuple<X...>;
  template <class... Y>
  using fits = formula_call<Call, Forms, Y...>;
  using order = in_their_places<Call, fits, X...>;
  static constexpr bool passes = call::passes && order::passes && !is_given_scores<Call, X...>;

  template <std::size_t A, std::size_t B, std::size_t... I>
  static constexpr bool fits_exchanged(std::index_sequence<I...>) {
    return formula_call<Call, Forms,
                        std::tuple_element_t<I == A   ? B
                                             : I == B ? A
                                                      : I,
                                             operands>...>::passes;
  }
  template <std::size_t A, std::size_t B>
  static constexpr void try_exchange(text &fix, int &fits) {
    if constexpr (A + 1 == B)
      if (fits_exchanged<A, B>(std::index_sequence_for<X...>()) && fits++ == 0) {
        std::array<sv, sizeof...(X)> labels = {of<X>.label...};
        std::swap(labels[A], labels[B]);
        std::apply([&](auto... label) { put_call(fix, {name_of_call(Call.view())}, label...); },
                   labels);
      }
  }
  template <std::size_t... N>
  static constexpr void try_exchanges(text &fix, int &fits, std::index_sequence<N...>) {
    constexpr std::size_t n = sizeof...(X);
    (try_exchange<N / n, N % n>(fix, fits), ...);
  }

  static constexpr text why() {
    if constexpr (is_given_scores<Call, X...>) {
      return say_given_scores<Call, X...>();
    } else if constexpr (call::passes) {
      return order::why();
    } else {
      return with_exchange(call::why());
    }
  }
  static constexpr text with_exchange(const text &t) {
    text fix;
    int fits = 0;
    const auto says = [&](sv words) { return t.view().find(words) != sv::npos; };
    if (!says(": no axis ") && !says(", not b8") && !says(", not i32")) return t;
    if constexpr (call::taken && (operand<X> && ...))
      try_exchanges(fix, fits, std::make_index_sequence<sizeof...(X) * sizeof...(X)>());
    return fits == 1 ? with_fix(t, fix) : t;
  }
};

}  // namespace detail

template <str Call, class... F>
class formula_t {
  using forms = detail::overloads<F...>;
  template <class... X>
  using check = detail::formula_call<Call, forms, detail::entered<X>...>;

 public:
  template <class... X>
    requires(detail::in_formula<X...> ||
             (detail::passes<check<X...>> && detail::in_their_places<Call, check, X...>::passes &&
              !detail::is_given_scores<Call, X...>))
  constexpr auto operator()(X... x) const {
    using detail::call_named, detail::as_checked;
    if constexpr (!detail::in_formula<X...>)
      return call_named<Call, X...>(check<X...>::bare(forms{}(as_checked<true>(x)...)));
    else if constexpr (check<X...>::taken)
      return call_named<Call, X...>(forms{}(as_checked<true>(x)...));
    else
      return detail::refused_by<check<X...>>{};
  }
  template <class... X,
            class Err = detail::refusal<detail::refused_call<Call, forms, detail::entered<X>...>>>
    requires(!detail::in_formula<X...>)
  Err operator()(X...) const;
};

// formula<"softcap(scores, cap)">([](auto scores, auto cap) { return tanh(scores / cap) * cap; })
// is a function over operations, with as many forms as lambdas are given. Where its formula needs
// axes, a variable template holds it:
//
//   template <an_axis auto Key>
//   inline constexpr auto attend = formula<"attend(scores, value)">([](auto scores, auto value) {
//     return dot<Key>(softmax<Key>(scores), value);
//   });
//
// Only holds the lambdas, which capture nothing.
// Errors:   of a call: those of the first step that refuses its operands, as one error on the
//           caller's line; operands that no lambda takes.
template <str Call, class... F>
  requires(std::is_empty_v<F> && ...)
constexpr formula_t<Call, F...> formula(F...) {
  return {};
}

}  // namespace qkv
