// SPDX-License-Identifier: BSL-1.0
#pragma once
// Names for steps.
#include <qkv/core/names.hpp>

namespace qkv {
namespace detail {

constexpr void give_name(node &n, sv name) {
  if (n.label.empty()) n.label = name;
}

template <str Name, class W, const info &F>
constexpr auto named(const expr<W, F> &x) {
  give_name((*x.g)[x.id], Name.view());
  return marked<Name, F.m>(x);
}
template <str Name, class W, const info &F, int N>
constexpr auto named(const index_expr<W, F, N> &x) {
  auto r = marked<Name, F.m>(x);
  give_name(r.nodes[N - 1], Name.view());
  return r;
}
template <str Name, class Check>
constexpr refused_by<Check> named(const refused_by<Check> &x) {
  return x;
}

namespace rule {

template <str Name>
struct let {
  constexpr text check(const info &x) const {
    message m;
    if (bad_name(m, "let", Name.view())) m.show(x);
    return m;
  }
};

}  // namespace rule

struct unnamed {
  static constexpr text why() {
    message m;
    return m.say("let: the name belongs in <>")
        .say("did you mean let<name>(x), the name in quotes?");
  }
};

}  // namespace detail

// Computes: x, named for messages, traces and the generated code.
// Shapes:   as x.
// Numerics: as x.
// Errors:   a name that is not an identifier.
template <str Name, traced X>
  requires detail::fits<detail::rule::let<Name>{}, X>
constexpr auto let(X x) {
  return detail::named<Name>(detail::expect<detail::rule::let<Name>{}>(x));
}
template <str Name, traced X, class Err = detail::misfit<detail::rule::let<Name>{}, X>>
Err let(X);

template <class... T, class Err = detail::refusal<detail::unnamed>>
Err let(T...);

}  // namespace qkv
