#pragma once
// Operands of a formula that were swapped, judged by their names: query and key of
// scaled_dot_product(query, key, value).
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
  return name;
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

template <std::size_t N>
constexpr text exchanged_operands(sv call, const info (&x)[N]) {
  message m;
  sv meant[N], is[N];
  for (std::size_t i = 0; i < N; ++i)
    meant[i] = role_of(operand_name(call, i)), is[i] = role_of(x[i].label);
  const auto place_of = [&](sv role) {
    std::size_t i = 0;
    while (i < N && meant[i] != role) ++i;
    return i;
  };
  for (std::size_t i = 0; i < N && m.empty(); ++i) {
    const std::size_t own = place_of(is[i]);
    if (own == N || own == i || place_of(is[own]) == N || is[own] == is[i]) continue;
    m.say(call.substr(0, call.find('(')), ": ", x[i].label, " is in the place of the ",
          operand_name(call, i), ", ", x[own].label, " in that of the ", operand_name(call, own))
        .say("it takes ", call, "; if it is meant, let<\"", operand_name(call, i), "\">(",
             x[i].label, ")");
  }
  return m;
}

// Of a call whose operands are steps, with names of their own.
template <str Call, class... X>
struct in_their_places {
  static constexpr bool passes = true;
};
template <str Call, class... X>
  requires(sizeof...(X) > 1 && (operand<X> && ...))
struct in_their_places<Call, X...> {
  static constexpr text why() {
    const info x[] = {of<X>...};
    return exchanged_operands(Call.view(), x);
  }
  static constexpr bool passes = why().empty();
};

}  // namespace qkv::detail
