// SPDX-License-Identifier: BSL-1.0
#pragma once
// Attention as a recurrence: a state of key features times values, written by each position and
// read by its query.
#include <qkv/core/formula.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/broadcast.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/scan.hpp>

namespace qkv {
namespace detail {
namespace rule {

// Decays are logarithms of gates.
struct log_decay {
  constexpr text check(const info &g) const {
    message m;
    const bool negated = g.label.starts_with("-") && is_call(g.label.substr(1), "log(sigmoid(");
    if (!negated && !is_call(g.label, "sigmoid(") && !is_call(g.label, "exp(")) return m;
    m.say("log_decay: ", g.label, " is above 0, so the state would grow");
    if (negated)
      m.say("did you mean ", g.label.substr(1), "? if it is meant, let<..>(..)");
    else if (is_call(g.label, "exp("))
      m.say("did you mean -", g.label, "? if it is meant, let<..>(..)");
    else
      m.say("did you mean log(", g.label, ")? if it is meant, let<..>(..)");
    m.show(g);
    return m;
  }
};

}  // namespace rule

// One position: the values written, and the values that the query reads after it.
template <an_axis auto Features, an_axis auto Values, class S, class Q, class K, class W>
constexpr auto written_and_read(S state, Q query, K key, W value) {
  auto memory = expect<rule::dot{axes_of<Features>()}>(state, key);  // that a key can read
  auto next = memory + broadcast<Values>(key) * broadcast<Features>(value);
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
template <an_axis auto Features, an_axis auto Position, an_axis auto Values>
inline constexpr auto recurrent_attention =
    formula<"recurrent_attention(state, query, key, value)">(
        [](traced auto state, traced auto query, traced auto key, traced auto value) {
          const auto step = [](auto s, auto q, auto k, auto v) {
            return detail::written_and_read<Features, Values>(s, q, k, v);
          };
          return scan<Position>(state, step, query, key, value);
        });

// Computes: S = exp(g) S + k v', y = S' q: what is remembered decays, by head or by head and
//           feature.
// Shapes:   as recurrent_attention; log_decay [.., position] or [.., position, features]
// Numerics: in the type of the state, in order; log_decay <= 0 forgets.
// Errors:   as recurrent_attention; a log_decay that is a sigmoid or an exp.
// Source:   Yang et al. 2024, gated linear attention; RetNet where log_decay is constant.
template <an_axis auto Features, an_axis auto Position, an_axis auto Values>
inline constexpr auto gated_attention =
    formula<"gated_attention(state, query, key, value, log_decay)">(
        [](traced auto state, traced auto query, traced auto key, traced auto value,
           traced auto log_decay) {
          const auto step = [](auto s, auto q, auto k, auto v, auto g) {
            return detail::written_and_read<Features, Values>(s * broadcast<Values>(g), q, k, v);
          };
          return scan<Position>(state, step, query, key, value,
                                exp(detail::expect<detail::rule::log_decay{}>(log_decay)));
        });

// Computes: w = beta (v - S' k), S = S + k w', y = S' q: what a key held before is replaced, by a
//           share of beta.
// Shapes:   as recurrent_attention; beta [.., position]
// Numerics: in the type of the state, in order; keys of length 1 keep the state bounded.
// Errors:   as recurrent_attention.
// Source:   Schlag et al. 2021, the delta rule.
template <an_axis auto Features, an_axis auto Position, an_axis auto Values>
inline constexpr auto delta_rule = formula<"delta_rule(state, query, key, value, beta)">(
    [](traced auto state, traced auto query, traced auto key, traced auto value, traced auto beta) {
      const auto step = [](auto s, auto q, auto k, auto v, auto b) {
        return detail::written_and_read<Features, Values>(s, q, k, (v - dot<Features>(k, s)) * b);
      };
      return scan<Position>(state, step, query, key, value, beta);
    });

// Computes: the delta rule on a state that has decayed: S = exp(g) S, w = beta (v - S' k),
//           S = S + k w', y = S' q.
// Shapes:   as delta_rule and gated_attention
// Numerics: in the type of the state, in order.
// Errors:   as gated_attention.
// Source:   Yang et al. 2025, gated delta networks; the default of ONNX LinearAttention.
template <an_axis auto Features, an_axis auto Position, an_axis auto Values>
inline constexpr auto gated_delta_rule =
    formula<"gated_delta_rule(state, query, key, value, log_decay, beta)">(
        [](traced auto state, traced auto query, traced auto key, traced auto value,
           traced auto log_decay, traced auto beta) {
          const auto step = [](auto s, auto q, auto k, auto v, auto g, auto b) {
            auto kept = s * broadcast<Values>(g);
            auto written = (v - dot<Features>(k, kept)) * b;
            return detail::written_and_read<Features, Values>(kept, q, k, written);
          };
          return scan<Position>(state, step, query, key, value,
                                exp(detail::expect<detail::rule::log_decay{}>(log_decay)), beta);
        });

}  // namespace qkv
