#pragma once
// Attention as a recurrence: a state of key features times values, written by each position and
// read by its query.
#include <qkv/core/trial.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/broadcast.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/scan.hpp>

namespace qkv {
namespace detail {

// The operand at one position, as a rule sees it.
constexpr info info_at(const axes &position, const info &x) {
  return {x.label, x.s.without(position), values(x.m, x.m.type), form::tensor};
}

template <axes Features, axes Position, axes Values, class S, class Q, class K, class V,
          class... Gate>
struct recurrence_check {
  static constexpr text why() {
    text t = scan_operands<Position, S, Q, K, V, Gate...>::why();
    if (!t.empty()) return t;
    trial steps;
    const rule::binary<op::mul> times;
    const info q = info_at(Position, of<Q>), k = info_at(Position, of<K>),
               v = info_at(Position, of<V>),
               state = {of<S>.label, of<S>.s, carried_marks(of<S>), form::tensor};
    ((void)steps("gated", times, state,
                 steps("gate", rule::broadcast{Values}, info_at(Position, of<Gate>))),
     ...);
    steps("retrieved", rule::dot{Features}, k, state);
    const info pairs = steps("pairs", times, steps("keys", rule::broadcast{Values}, k),
                             steps("values", rule::broadcast{Features}, v));
    const info next = steps("next", rule::binary<op::add>{}, state, pairs);
    if (steps.why.empty()) steps.why = rule::scan{Position}.check_next(state, next);
    steps("result", rule::dot{Features}, q, next);
    return steps.why;
  }
};

// One position: what is written, and what the query reads after it.
template <an_axis auto Features, an_axis auto Values, class S, class Q, class K, class W>
constexpr auto written_and_read(S state, Q query, K key, W value) {
  auto next = state + broadcast<Values>(key) * broadcast<Features>(value);
  return std::pair{next, dot<Features>(query, next)};
}

}  // namespace detail

// Computes: S = S + k v', y = S' q at each position: causal linear attention without a divisor.
//           Gives {y, last S}.
// Shapes:   S [.., features, values], q, k [.., position, features], v [.., position, values] ->
//           y [position, .., values]; heads that share keys: q may have further axes.
// Numerics: in the type of the state, in order.
// Errors:   as scan, dot and addition.
// Source:   Katharopoulos et al. 2020, equations 18 to 20.
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced S, traced Q,
          traced K, traced V>
  requires detail::passes<detail::recurrence_check<axes_of<Features>(), axes_of<Position>(),
                                                   axes_of<Values>(), S, Q, K, V>>
constexpr auto recurrent_attention(S state, Q query, K key, V value) {
  return scan<Position>(
      state,
      [](auto s, auto q, auto k, auto v) {
        return detail::written_and_read<Features, Values>(s, q, k, v);
      },
      query, key, value);
}
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced S, traced Q,
          traced K, traced V,
          class Err = detail::refusal<detail::recurrence_check<
              axes_of<Features>(), axes_of<Position>(), axes_of<Values>(), S, Q, K, V>>>
Err recurrent_attention(S, Q, K, V);

// Computes: S = exp(g) S + k v', y = S' q: what is remembered decays, by head or by head and
//           feature.
// Shapes:   as recurrent_attention; log_decay [.., position] or [.., position, features]
// Numerics: in the type of the state, in order; log_decay <= 0 forgets.
// Errors:   as recurrent_attention.
// Source:   Yang et al. 2024, gated linear attention; RetNet where log_decay is constant.
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced S, traced Q,
          traced K, traced V, traced G>
  requires detail::passes<detail::recurrence_check<axes_of<Features>(), axes_of<Position>(),
                                                   axes_of<Values>(), S, Q, K, V, G>>
constexpr auto gated_attention(S state, Q query, K key, V value, G log_decay) {
  return scan<Position>(
      state,
      [](auto s, auto q, auto k, auto v, auto g) {
        return detail::written_and_read<Features, Values>(s * broadcast<Values>(g), q, k, v);
      },
      query, key, value, exp(log_decay));
}
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced S, traced Q,
          traced K, traced V, traced G,
          class Err = detail::refusal<detail::recurrence_check<
              axes_of<Features>(), axes_of<Position>(), axes_of<Values>(), S, Q, K, V, G>>>
Err gated_attention(S, Q, K, V, G);

// Computes: w = beta (v - S' k), S = S + k w', y = S' q: what a key held before is replaced, by a
//           share of beta.
// Shapes:   as recurrent_attention; beta [.., position]
// Numerics: in the type of the state, in order; keys of length 1 keep the state bounded.
// Errors:   as recurrent_attention.
// Source:   Schlag et al. 2021, the delta rule.
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced S, traced Q,
          traced K, traced V, traced B>
  requires detail::passes<detail::recurrence_check<axes_of<Features>(), axes_of<Position>(),
                                                   axes_of<Values>(), S, Q, K, V, B>>
constexpr auto delta_rule(S state, Q query, K key, V value, B beta) {
  return scan<Position>(
      state,
      [](auto s, auto q, auto k, auto v, auto b) {
        return detail::written_and_read<Features, Values>(s, q, k, (v - dot<Features>(k, s)) * b);
      },
      query, key, value, beta);
}
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced S, traced Q,
          traced K, traced V, traced B,
          class Err = detail::refusal<detail::recurrence_check<
              axes_of<Features>(), axes_of<Position>(), axes_of<Values>(), S, Q, K, V, B>>>
Err delta_rule(S, Q, K, V, B);

// Computes: the delta rule on a state that has decayed: S = exp(g) S, w = beta (v - S' k),
//           S = S + k w', y = S' q.
// Shapes:   as delta_rule and gated_attention
// Numerics: in the type of the state, in order.
// Errors:   as recurrent_attention.
// Source:   Yang et al. 2025, gated delta networks; the default of ONNX LinearAttention.
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced S, traced Q,
          traced K, traced V, traced G, traced B>
  requires detail::passes<detail::recurrence_check<axes_of<Features>(), axes_of<Position>(),
                                                   axes_of<Values>(), S, Q, K, V, G, B>>
constexpr auto gated_delta_rule(S state, Q query, K key, V value, G log_decay, B beta) {
  return scan<Position>(
      state,
      [](auto s, auto q, auto k, auto v, auto g, auto b) {
        auto kept = s * broadcast<Values>(g);
        return detail::written_and_read<Features, Values>(kept, q, k,
                                                          (v - dot<Features>(k, kept)) * b);
      },
      query, key, value, exp(log_decay), beta);
}
template <an_axis auto Features, an_axis auto Position, an_axis auto Values, traced S, traced Q,
          traced K, traced V, traced G, traced B,
          class Err = detail::refusal<detail::recurrence_check<
              axes_of<Features>(), axes_of<Position>(), axes_of<Values>(), S, Q, K, V, G, B>>>
Err gated_delta_rule(S, Q, K, V, G, B);

}  // namespace qkv
