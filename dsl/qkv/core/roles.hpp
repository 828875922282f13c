// SPDX-License-Identifier: BSL-1.0
#pragma once
// Operands of a formula that were swapped, judged by their names: query and key of
// scaled_dot_product(query, key, value).
#include <tuple>
#include <utility>

#include <qkv/core/called.hpp>
#include <qkv/core/expr.hpp>
#include <qkv/core/message.hpp>

namespace qkv::detail {

// The operand that a name means in papers and libraries.
constexpr sv role_of(sv name) {
  struct synonym {
    sv name, role;
  };
  constexpr synonym synonyms[] = {{"Q", "query"},      {"q", "query"},  {"queries", "query"},
                                  {"K", "key"},        {"k", "key"},    {"keys", "key"},
                                  {"V", "value"},      {"v", "value"},  {"values", "value"},
                                  {"weight", "gamma"}, {"bias", "beta"}};
  for (const synonym &s : synonyms)
    if (s.name == name) return s.role;
  return name.size() == 1 ? sv() : name;  // papers give other letters to other operands
}

// The name at a place of a call as softcap(scores, cap) or mean(x[, epsilon]).
constexpr sv operand_name(sv call, std::size_t place) {
  std::size_t from = call.find('(');
  for (; place > 0; --place) from = call.find(',', from + 1);
  if (from == sv::npos) return {};
  sv name = call.substr(from + 1);
  name = name.substr(name.find_first_not_of(" "));
  return name.substr(0, name.find_first_of("[],) "));
}

// Two operands, each in the place of the other.
struct exchange {
  std::size_t a = 0, b = 0;  // equal where there are none
};

template <std::size_t N>
constexpr exchange exchanged_operands(sv call, const info (&x)[N]) {
  sv meant[N], is[N];
  for (std::size_t i = 0; i < N; ++i)
    meant[i] = role_of(operand_name(call, i)), is[i] = role_of(x[i].label);
  const auto place_of = [&](sv role) {
    std::size_t i = 0;
    while (i < N && (meant[i] != role || role.empty())) ++i;
    return i;
  };
  for (std::size_t i = 0; i < N; ++i) {
    const std::size_t own = place_of(is[i]);
    if (own == N || own == i || place_of(is[own]) == N || is[own] == is[i]) continue;
    return {i, own};
  }
  return {};
}

constexpr text say_exchanged(sv call, sv first, sv second, const exchange &e) {
  message m;
  const sv place = operand_name(call, e.a);
  return m
      .say(call.substr(0, call.find('(')), ": ", first, " is in the place of the ", place, ", ",
           second, " in that of the ", operand_name(call, e.b))
      .say("it takes ", call, "; if it is meant, let<\"", place, "\">(", first, ")");
}

// Scores in the place of a number: sliding_window<seq, kv>(scores, 128). No width, length or slope
// varies along two axes that are not batch axes. Asked of every call: no text is made here.
constexpr bool takes_scores(sv call, const info &x) {
  if (!x.tensor() || x.m.type == b8 || x.m.type == i32 || x.s.non_batch().n < 2) return false;
  const sv first = operand_name(call, 0);
  for (const sv place : {sv("width"), sv("length"), sv("step"), sv("id"), sv("slope")})
    if (place == first) return is_function(call.substr(0, call.find('(')));
  return false;
}
constexpr text say_scores(sv call, const info &x) {
  message m;
  const sv name = call.substr(0, call.find('(')), first = operand_name(call, 0);
  const sv required = call.substr(name.size(), call.find('[') - name.size());
  text made;
  made << name << "<..>" << required << (required.ends_with(')') ? "" : ")");
  m.say(name, ": ", x.label, " is in the place of the ", first);
  if (first == "slope")
    m.say("did you mean ", x.label, " + ", made, "?");
  else
    m.say("did you mean mask(", x.label, ", ", made, ")?");
  return m.show(x);
}
template <str Call, class... X>
inline constexpr bool is_given_scores = false;
template <str Call, class X, class... More>
  requires(of<X>.tensor())
inline constexpr bool is_given_scores<Call, X, More...> = takes_scores(Call.view(), of<X>);
template <str Call, class X, class... More>
constexpr text say_given_scores() {
  return say_scores(Call.view(), of<X>);
}

// The step whose name an operand is judged by: the matrix of with_bias(matrix, bias).
template <class X>
struct judged_by {
  using type = X;
};
template <class X>
inline constexpr bool is_judged = operand<typename judged_by<X>::type>;
template <class X>
inline constexpr const info &judged = of<typename judged_by<X>::type>;

// Of a call whose operands are steps, with names of their own. Fits<X...>::passes tells whether a
// call with these operands is right: operands whose exchange is not are in their places.
template <str Call, template <class...> class Fits, class... X>
struct in_their_places {
  static constexpr bool passes = true;
};
template <str Call, template <class...> class Fits, class... X>
  requires(sizeof...(X) > 1 && (is_judged<X> && ...))
struct in_their_places<Call, Fits, X...> {
  static constexpr info operands[] = {judged<X>...};
  static constexpr exchange found = exchanged_operands(Call.view(), operands);

  template <std::size_t... I>
  static constexpr bool fits_exchanged(std::index_sequence<I...>) {
    constexpr std::size_t a = found.a, b = found.b;
    using list = std::tuple<X...>;
    return Fits<std::tuple_element_t<I == a ? b : I == b ? a : I, list>...>::passes;
  }
  static constexpr bool passes = [] {
    if constexpr (found.a == found.b)
      return true;
    else
      return !fits_exchanged(std::index_sequence_for<X...>());
  }();
  static constexpr text why() {
    return say_exchanged(Call.view(), operands[found.a].label, operands[found.b].label, found);
  }
};

}  // namespace qkv::detail
