// SPDX-License-Identifier: BSL-1.0
#pragma once
// Every kind of stage in f64.
#include <qkv/dsl.hpp>

namespace f64_specs {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 3> heads;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"d_model", 48> d_model;
inline constexpr axis<"d_k", 32> d_k;
inline constexpr axis<"d_v", 64> d_v;
inline constexpr axis<"any_v"> any_v;

inline constexpr auto f64_causal = kernel<"f64_causal">(
    [](in<"Q", f64, batch, heads, seq, d_k> Q, in<"K", f64, batch, heads, kv, d_k> K,
       in<"V", f64, batch, heads, kv, d_v> V, in<"B", f64, heads, seq, kv> B)
        -> outs<out<"O", f64, batch, heads, seq, d_v>, out<"lse", f64, batch, heads, seq>> {
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k) + B + alibi<seq, kv>(alibi_slopes(heads)),
                    causal<seq, kv>);
      return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
    });

inline constexpr auto f64_relu_weights =
    kernel<"f64_relu_weights">([](in<"Q", f64, batch, seq, d_k> Q, in<"K", f64, batch, mem, d_k> K,
                                  in<"V", f64, batch, mem, any_v> V,
                                  in<"len", i32, batch> len) -> out<"O", f64, batch, seq, any_v> {
      auto w = mask(relu(dot<d_k>(Q, K)) + 0.1, index(mem) < len);
      return dot<mem>(normalize<mem>(w), V);
    });

inline constexpr auto f64_layer = kernel<"f64_layer">(
    [](in<"X", f64, batch, seq, d_model> X, param<"Wq", f64, d_model, heads, d_k> Wq,
       param<"Wk", f64, d_model, heads, d_k> Wk, param<"Wv", f64, d_model, heads, d_v> Wv,
       param<"Wo", f64, heads, d_v, d_model> Wo, param<"g", f64, d_model> g,
       param<"b", f64, d_model> b) -> out<"Y", f64, batch, seq, d_model> {
      return layer_norm<d_model>(
          X + multi_head<d_model, seq, kv, heads, d_k, d_v>(X, Wq, Wk, Wv, Wo), g, b);
    });

inline constexpr auto f64_statistics = kernel<"f64_statistics">(
    [](in<"X", f64, batch, seq, d_model> X, in<"len", i32, batch> len)
        -> outs<out<"mean", f64, batch, d_model>, out<"max", f64, batch, seq>,
                out<"lse", f64, batch, d_model>, out<"w", f64, batch, seq, d_model>,
                out<"c", f64, batch, seq, d_model>> {
      auto kept = mask(X, index(seq) < len);
      return {mean<seq>(kept), max<d_model>(X), logsumexp<seq>(kept), softmax<d_model>(X),
              cumsum<seq>(X)};
    });

inline constexpr auto f64_functions = kernel<"f64_functions">([
](in<"X", f64, batch, any_v> X) -> outs<out<"a", f64, batch, any_v>, out<"b", f64, batch, any_v>,
                                                              out<"c", f64, batch, any_v>> {
  auto a = exp(X) + tanh(X) + sigmoid(X) + relu(X) + gelu(X) + silu(X) + elu(X);
  auto b = log(abs(X) + 1) + sqrt(abs(X)) + rsqrt(X * X + 1) + erf(X) + cos(X) + sin(X);
  auto c = where(X > 0, min(X, 2), max(X, -2)) + pow(abs(X) + 1, 0.3) - X / (X * X + 1);
  return {a, b, c};
});

// Scores in f32, the sum over values in f64.
inline constexpr auto f64_of_f32 =
    kernel<"f64_of_f32">([](in<"Q", batch, seq, d_k> Q, in<"K", batch, mem, d_k> K,
                            in<"V", f64, batch, mem, d_v> V) -> out<"O", f64, batch, seq, d_v> {
      return dot<mem>(softmax<mem>(cast<f64>(dot<d_k>(Q, K) / sqrt(d_k))), V);
    });

inline constexpr auto f64_recurrence = kernel<"f64_recurrence">(
    [](in<"Q", f64, batch, seq, d_k> Q, in<"K", f64, batch, seq, d_k> K,
       in<"V", f64, batch, seq, d_v> V, in<"g", f64, batch, seq> g,
       in<"beta", f64, batch, seq> beta, in<"S0", f64, batch, d_k, d_v> S0)
        -> outs<out<"O", f64, batch, seq, d_v>, out<"S", f64, batch, d_k, d_v>,
                out<"P", f64, batch, seq, d_v>> {
      auto unit = K * rsqrt(sum<d_k>(K * K) + 1);
      auto decay = broadcast<d_k>(-abs(g));
      auto [o, s] = gated_delta_rule<d_k, seq, d_v>(S0, Q, unit, V, decay, sigmoid(beta));
      auto p = causal_linear_attention<d_k, seq, d_v>(elu_plus_one(Q), elu_plus_one(K), V, 1e-3);
      return {o, s, p};
    });

// Folds inside steps, over an axis that may be empty.
inline constexpr auto f64_folds =
    kernel<"f64_folds">([](in<"X", f64, batch, seq, any_v> X, in<"s0", f64, batch, any_v> s0)
                            -> outs<out<"Y", f64, batch, seq, any_v>, out<"Z", f64, batch, seq>> {
      auto sums = scan<seq>(
          s0,
          [](auto s, auto x) {
            return std::pair{tanh(s + softmax<any_v>(x * s)), cumsum<any_v>(s)};
          },
          X);
      auto largest = scan<seq>(
          s0,
          [](auto s, auto x) {
            return std::pair{tanh(s + broadcast<any_v>(max<any_v>(x * s))),
                             logsumexp<any_v>(s) + mean<any_v>(x)};
          },
          X);
      return {sums.result, largest.result};
    });

}  // namespace f64_specs
