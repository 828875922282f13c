#pragma once
// A kernel: a named lambda whose signature says what goes in and what comes out. It is traced on demand.
#include <array>
#include <tuple>

#include <qkv/core/signature.hpp>

namespace qkv {

enum class role : unsigned char { in, param, out };

// An argument or a result, as the signature declares it.
struct argument {
  sv name;
  role what = role::in;
  dtype type = f32;
  axes shape{};
};

namespace detail {

template <class T>
struct argument_of {
  static constexpr bool ok = false;
};
template <str L, axes S, marks M>
struct argument_of<expr<L, S, M>> {
  static constexpr bool ok = M.given || M.param;
  static constexpr argument value{L.view(), M.param ? role::param : role::in, M.type, S};
};

template <class T>
struct results_of {
  static constexpr bool ok = false;
};
template <str N, auto... A>
struct results_of<out<N, A...>> {
  static constexpr bool ok = true;
  static constexpr std::array<argument, 1> value{
      {{N.view(), role::out, dtype_of<A...>(), axes_of<A...>()}}};
};
template <class... Out>
struct results_of<outs<Out...>> {
  static constexpr bool ok = (results_of<Out>::ok && ...);
  static constexpr std::array<argument, sizeof...(Out)> value{results_of<Out>::value[0]...};
};

constexpr node argument_node(const argument &a) {
  node n;
  n.kind = a.what == role::param ? op::param : op::input;
  n.type = a.type;
  n.label = a.name;
  n.shape = a.shape;
  return n;
}

// No constant, so that no compiler traces a kernel at compile time where nobody asked for it.
inline std::size_t usual_nodes() { return 128; }

template <class Call>
struct signature;
template <class F, class Result, class... In>
struct signature<Result (F::*)(In...) const> {
  using result = Result;
  static constexpr std::array<argument, sizeof...(In)> arguments{
      argument_of<std::remove_cvref_t<In>>::value...};
  static constexpr auto outputs = results_of<Result>::value;

  static constexpr graph trace() {
    graph g;
    if (!std::is_constant_evaluated()) g.nodes.reserve(usual_nodes());
    for (const argument &a : arguments) g.put(argument_node(a));
    call(g, std::index_sequence_for<In...>());
    return g;
  }
  template <std::size_t... I>
  static constexpr void call(graph &g, std::index_sequence<I...>) {
    (void)F{}(std::remove_cvref_t<In>{&g, int{I}}...);
  }
};

}  // namespace detail

template <str Name, class F>
struct kernel_t {
  using signature = detail::signature<decltype(&F::operator())>;
  static constexpr sv name = Name.view();
  static constexpr auto arguments = signature::arguments;  // in the order of the signature
  static constexpr auto outputs = signature::outputs;

  // The graph: inputs and params first, in their order; outputs as nodes of kind output, in their order.
  static constexpr graph trace() { return signature::trace(); }
};

// kernel<"mha">([](in<"X", ...> X, param<"W", ...> W) -> out<"Y", ...> { ... }). Only holds the lambda.
template <str Name, class F>
constexpr kernel_t<Name, F> kernel(F) {
  return {};
}

}  // namespace qkv
