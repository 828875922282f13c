// SPDX-License-Identifier: BSL-1.0
#pragma once
// A kernel: a named lambda whose signature declares its inputs and outputs. It is traced on demand.
#include <qkv/core/declaration.hpp>

namespace qkv {
namespace detail {

constexpr node argument_node(const argument &a) {
  node n;
  n.kind = a.what == role::param ? op::param : op::input;
  n.type = a.type;
  n.label = a.name;
  n.shape = a.shape;
  return n;
}

template <class F, class Result, class... In>
struct signature<Result (F::*)(In...) const> {
  static constexpr std::array<argument, sizeof...(In)> arguments{
      argument_of<std::remove_cvref_t<In>>::value...};

  static constexpr const auto &outputs() { return results_of<Result>::value; }

  // Arguments are inputs and params, results are declared.
  static constexpr message check_kinds(sv name) {
    message m;
    const bool ok[] = {argument_of<std::remove_cvref_t<In>>::ok..., true};
    const bool by_reference[] = {
        std::is_lvalue_reference_v<In> && !std::is_const_v<std::remove_reference_t<In>>..., false};
    for (std::size_t i = 0; i < sizeof...(In); ++i) {
      const long number = static_cast<long>(i + 1);
      if (!ok[i])
        return m.say("kernel ", name, ": argument ", number,
                     " is neither an in<...> nor a param<...>");
      if (by_reference[i])
        return m.say("kernel ", name, ": argument ", number, " is a reference")
            .say("arguments are values: leave the & out");
    }
    if (!results_of<Result>::ok) {
      m.say("kernel ", name, ": declares no result");
      if (lists_results<Result>)
        m.say("several results are declared as outs<out<...>, out<...>>");
      else
        m.say("write -> out<name, axes...> before the body");
      if (of<Result>.kind != form::other) m.show(of<Result>);
    }
    return m;
  }

  // Each name has one meaning, and params are ready before the sizes of a call are known.
  static constexpr message check_arguments(sv name) {
    message m;
    declaration_check<sizeof...(In) + results_of<Result>::value.size()> c{name, m};
    const slips wrong[] = {argument_of<std::remove_cvref_t<In>>::wrong..., {}};
    bool ok = true;
    for (std::size_t i = 0; ok && i < arguments.size(); ++i) ok = c.add(arguments[i], wrong[i]);
    for (std::size_t i = 0; ok && i < outputs().size(); ++i)
      ok = c.add(outputs()[i], results_of<Result>::wrong[i]);
    if (ok) lone_param(m, name, arguments);
    return m;
  }

  static constexpr graph trace() {
    graph g;
    for (const argument &a : arguments) g.put(argument_node(a));
    call(g, std::index_sequence_for<In...>());
    return in_order(g);
  }
  template <std::size_t... I>
  static constexpr void call(graph &g, std::index_sequence<I...>) {
    (void)F{}(std::remove_cvref_t<In>{{&g, int{I}}}...);
  }
};

}  // namespace detail

template <str Name, class F>
struct kernel_t {
  using signature = detail::signature<decltype(&F::operator())>;
  static constexpr core::sv name = Name.view();
  static constexpr auto arguments = signature::arguments;  // in the order of the signature
  static constexpr auto outputs = signature::outputs();

  // The graph: inputs and params first, in their order; outputs as nodes of kind output, in their
  // order.
  static constexpr core::graph trace() {
    core::graph g =
        signature::trace();  // not returned at once: clang evaluates what stands after return
    return g;
  }

  template <class... T, class Err = detail::refusal<detail::kernel_called<Name, T...>>>
  Err operator()(T...) const;
};

// kernel<"mha">([](in<"X", ...> X, param<"W", ...> W) -> out<"Y", ...> { ... }). Only holds the
// lambda.
// Errors:   no name in <>, an argument that is neither an in nor a param, no declared result, names
//           that occur twice, one name for two axes, a name that is not an identifier or whose C
//           function the runtime has; a param alone with a batch axis whose size the call decides.
template <str Name, class F>
  requires detail::passes<detail::kernel_check<Name, F>>
constexpr kernel_t<Name, F> kernel(F) {
  return {};
}
template <str Name, class F, class Err = detail::refusal<detail::kernel_check<Name, F>>>
Err kernel(F);
template <class... T, class Err = detail::refusal<detail::unnamed_kernel>>
Err kernel(T...);

}  // namespace qkv
