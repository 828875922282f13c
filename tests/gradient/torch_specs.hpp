// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels whose gradients PyTorch has computed, too (torch_gradients.py has the same formulas).
#include <qkv/dsl.hpp>

namespace second {
using namespace qkv;

inline constexpr batch_axis<"batch"> batch;
inline constexpr batch_axis<"heads", 2> heads;
inline constexpr batch_axis<"q_heads", 4> q_heads;
inline constexpr axis<"group", 2> group;
inline constexpr axis<"seq"> seq;
inline constexpr alias<"kv", seq> kv;
inline constexpr axis<"mem"> mem;
inline constexpr axis<"d", 4> d;
inline constexpr axis<"e", 3> e;
inline constexpr axis<"model", 6> model;
inline constexpr axis<"hidden", 5> hidden;
inline constexpr axis<"two", 2> two;
inline constexpr axis<"half", 2> half;
inline constexpr axis<"distances", 5> distances;
inline constexpr axis<"vocabulary", 7> vocabulary;
inline constexpr axis<"h", 4> h;
inline constexpr axis<"h_next", 4> h_next;

using Q_ = in<"Q", batch, heads, seq, d>;
using K_ = in<"K", batch, heads, kv, d>;
using V_ = in<"V", batch, heads, kv, e>;
using far_K = in<"K", batch, heads, mem, d>;
using far_V = in<"V", batch, heads, mem, e>;
using O_ = out<"O", batch, heads, seq, e>;

inline constexpr auto full = kernel<"full">(
    [](Q_ Q, far_K K, far_V V) -> O_ { return scaled_dot_product<d, mem>(Q, K, V); });

inline constexpr auto causal_self = kernel<"causal_self">(
    [](Q_ Q, K_ K, V_ V) -> O_ { return scaled_dot_product<d, kv>(Q, K, V, causal<seq, kv>); });

inline constexpr auto window = kernel<"window">([](Q_ Q, K_ K, V_ V) -> O_ {
  return scaled_dot_product<d, kv>(Q, K, V, causal<seq, kv> and sliding_window<seq, kv>(2));
});

// The second sequence has no keys.
inline constexpr auto padded =
    kernel<"padded">([](Q_ Q, far_K K, far_V V, in<"lengths", i32, batch> lengths) -> O_ {
      return scaled_dot_product<d, mem>(Q, K, V, padding<mem>(lengths));
    });

inline constexpr auto documents =
    kernel<"documents">([](Q_ Q, K_ K, V_ V, in<"ids", i32, batch, seq> ids) -> O_ {
      return scaled_dot_product<d, kv>(Q, K, V, document<seq, kv>(ids));
    });

inline constexpr auto grouped = kernel<"grouped">(
    [](in<"Q", batch, q_heads, seq, d> Q, far_K K, far_V V) -> out<"O", batch, q_heads, seq, e> {
      return grouped_query<q_heads, heads, group, d, mem>(Q, K, V);
    });

inline constexpr auto softcapped = kernel<"softcapped">([](Q_ Q, far_K K, far_V V) -> O_ {
  return dot<mem>(softmax<mem>(softcap(dot<d>(Q, K), 2)), V);
});

inline constexpr auto biased =
    kernel<"biased">([](Q_ Q, far_K K, far_V V, param<"bias", heads, seq, mem> bias) -> O_ {
      return dot<mem>(softmax<mem>(dot<d>(Q, K) / sqrt(d) + bias), V);
    });

inline constexpr auto relative =
    kernel<"relative">([](Q_ Q, K_ K, V_ V, param<"table", heads, distances> table) -> O_ {
      auto bias = relative_bias<seq, kv, distances>(table);
      return dot<kv>(softmax<kv>(dot<d>(Q, K) / sqrt(d) + bias), V);
    });

inline constexpr auto sloped =
    kernel<"sloped">([](Q_ Q, K_ K, V_ V, param<"slope", heads> slope) -> O_ {
      return dot<kv>(softmax<kv>(dot<d>(Q, K) / sqrt(d) + alibi<seq, kv>(slope)), V);
    });

inline constexpr auto additive = kernel<"additive">(
    [](in<"H", batch, seq, d> H, in<"S", batch, mem, model> S, param<"W", d, hidden> W,
       param<"U", model, hidden> U, param<"v", hidden> v) -> out<"O", batch, seq, model> {
      return dot<mem>(softmax<mem>(bahdanau<seq, mem, d, model, hidden>(H, S, W, U, v)), S);
    });

inline constexpr auto general =
    kernel<"general">([](in<"H", batch, seq, d> H, in<"S", batch, mem, model> S,
                         param<"W", d, model> W) -> out<"O", batch, seq, model> {
      return dot<mem>(softmax<mem>(dot<model>(dot<d>(H, W), S)), S);
    });

inline constexpr auto linear = kernel<"linear">([](Q_ Q, far_K K, far_V V) -> O_ {
  return linear_attention<d, mem>(elu_plus_one(Q), elu_plus_one(K), V);
});

inline constexpr auto linear_causal = kernel<"linear_causal">(
    [](Q_ Q, in<"K", batch, heads, seq, d> K, in<"V", batch, heads, seq, e> V) -> O_ {
      return causal_linear_attention<d, seq, e>(elu_plus_one(Q), elu_plus_one(K), V);
    });

inline constexpr auto sigmoids = kernel<"sigmoids">([](Q_ Q, far_K K, far_V V) -> O_ {
  return sigmoid_attention<mem>(dot<d>(Q, K) / sqrt(d), V, -log(size(mem)));
});

inline constexpr auto with_sink =
    kernel<"with_sink">([](Q_ Q, far_K K, far_V V, param<"sink", heads> sink) -> O_ {
      return attend_with_sink<mem>(dot<d>(Q, K) / sqrt(d), V, sink);
    });

inline constexpr auto turned = kernel<"turned">([](Q_ Q, K_ K, V_ V) -> O_ {
  auto q = rope_angle<seq, half>(100);
  auto k = rope_angle<kv, half>(100);
  return scaled_dot_product<d, kv>(rope<d, two, half>(Q, cos(q), sin(q)),
                                   rope<d, two, half>(K, cos(k), sin(k)), V, causal<seq, kv>);
});

inline constexpr auto cosines =
    kernel<"cosines">([](Q_ Q, far_K K, far_V V, param<"scale", heads> scale) -> O_ {
      return dot<mem>(softmax<mem>(qk_norm<d>(Q, K, scale)), V);
    });

inline constexpr auto two_softmaxes = kernel<"two_softmaxes">(
    [](Q_ Q, far_K K, in<"Q2", batch, heads, seq, d> Q2, in<"K2", batch, heads, mem, d> K2, far_V V,
       param<"lambda"> lambda) -> O_ {
      return differential<mem>(dot<d>(Q, K) / sqrt(d), dot<d>(Q2, K2) / sqrt(d), V, lambda);
    });

inline constexpr auto layer =
    kernel<"layer">([](in<"X", batch, seq, model> X, param<"Wq", model, heads, d> Wq,
                       param<"Wk", model, heads, d> Wk, param<"Wv", model, heads, e> Wv,
                       param<"Wo", heads, e, model> Wo) -> out<"Y", batch, seq, model> {
      return X + multi_head<model, seq, kv, heads, d, e>(X, Wq, Wk, Wv, Wo, causal<seq, kv>);
    });

inline constexpr auto normed =
    kernel<"normed">([](in<"X", batch, seq, model> X, param<"gamma", model> gamma,
                        param<"beta", model> beta, param<"W1", model, hidden> W1,
                        param<"W2", hidden, model> W2) -> out<"Y", batch, seq, model> {
      return X + dot<hidden>(gelu(dot<model>(layer_norm<model>(X, gamma, beta), W1)), W2);
    });

inline constexpr auto gated =
    kernel<"gated">([](in<"X", batch, seq, model> X, param<"gamma", model> gamma,
                       param<"W1", model, hidden> W1, param<"W2", model, hidden> W2,
                       param<"W3", hidden, model> W3) -> out<"Y", batch, seq, model> {
      auto N = rms_norm<model>(X, gamma);
      return dot<hidden>(silu(dot<model>(N, W1)) * dot<model>(N, W2), W3);
    });

inline constexpr auto classified = kernel<"classified">(
    [](in<"tokens", i32, batch, seq> tokens, in<"next", i32, batch, seq> next,
       param<"words", vocabulary, model> words, param<"W", model, vocabulary> W) -> out<"loss"> {
      auto logits = dot<model>(take<vocabulary>(words, tokens), W);
      return mean<batch, seq>(logsumexp<vocabulary>(logits) - take<vocabulary>(logits, next));
    });

inline constexpr auto elman = kernel<"elman">(
    [](in<"X", batch, seq, model> X, param<"W", model, h> W, param<"U", h, h_next> U,
       param<"b", h> b,
       in<"h0", batch, h> h0) -> outs<out<"H", batch, seq, h>, out<"last", batch, h>> {
      auto [states, last] = scan<seq>(
          h0,
          [&](auto state, auto x) {
            return tanh(dot<model>(x, W) + rename<h_next, h>(dot<h>(state, U)) + b);
          },
          X);
      return {states, last};
    });

inline constexpr auto delta = kernel<"delta">(
    [](in<"S0", batch, d, e> S0, in<"Q", batch, seq, d> Q, in<"K", batch, seq, d> K,
       in<"V", batch, seq, e> V, in<"beta", batch, seq> beta) -> out<"O", batch, seq, e> {
      return delta_rule<d, seq, e>(S0, Q, unit_length<d>(K), V, sigmoid(beta)).result;
    });

inline constexpr auto statistics = kernel<"statistics">(
    [](in<"X", batch, seq, model> X)
        -> outs<out<"total", batch, seq>, out<"most", batch, model>, out<"sums", batch, seq, model>,
                out<"shares", batch, seq, model>> {
      return {logsumexp<model>(X), max<seq>(X), cumsum<seq>(X), normalize<model>(exp(X))};
    });

}  // namespace second
