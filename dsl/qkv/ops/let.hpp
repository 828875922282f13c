#pragma once
// Names for steps.
#include <qkv/core/names.hpp>

namespace qkv {
namespace detail {

constexpr void give_name(node &n, sv name) {
  if (n.label.empty()) n.label = name;
}

template <str Name, str L, axes S, marks M>
constexpr expr<Name, S, M> named(const expr<L, S, M> &x) {
  give_name((*x.g)[x.id], Name.view());
  return {x.g, x.id};
}
template <str Name, str L, axes S, marks M, int N>
constexpr index_expr<Name, S, M, N> named(const index_expr<L, S, M, N> &x) {
  index_expr<Name, S, M, N> r{};
  for (int i = 0; i < N; ++i) r.nodes[i] = x.nodes[i];
  give_name(r.nodes[N - 1], Name.view());
  return r;
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
}  // namespace detail

// Computes: x, named for messages, traces and the generated code.
// Shapes:   as x.
// Numerics: as x.
// Errors:   a name that is not an identifier.
template <str Name, traced X>
  requires detail::fits<detail::rule::let<Name>{}, X>
constexpr auto let(X x) {
  return detail::named<Name>(x);
}
template <str Name, traced X, class Err = detail::misfit<detail::rule::let<Name>{}, X>>
Err let(X);

}  // namespace qkv
