// SPDX-License-Identifier: BSL-1.0
// Slips that names show: keys and values, lengths, temperatures, masks of other libraries.
#include <qkv/dsl.hpp>

#include <string>
#include <utility>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr axis<"target"> target;
constexpr axis<"frames"> frames;

constexpr batch_axis<"batch"> batch;
constexpr axis<"past"> past;
constexpr axis<"total"> total;
constexpr axis<"mem"> mem;
constexpr axis<"slots"> slots;

using Q_ = in<"Q", batch, seq, d8>;
using K_ = in<"K", batch, kv, d8>;
using V_ = in<"V", batch, kv, d8>;
using O_ = out<"O", batch, seq, d8>;

}  // namespace

TEST_CASE("results are made of the arguments of their name") {
  constexpr auto caches = [](auto f) {
    return slips_in(kernel<"k">(
        [](K_ K, V_ V, in<"past_K", batch, past, d8> past_K, in<"past_V", batch, past, d8> past_V)
            -> outs<out<"new_K", batch, total, d8>, out<"new_V", batch, total, d8>> {
          auto [k, v] = decltype(f){}(concat<total>(past_K, K), concat<total>(past_V, V));
          return {k, v};
        }));
  };
  CHECK(mentions(caches([](auto k, auto v) { return std::pair{v, k}; }),
                 "did you exchange the results?"));
  CHECK(caches([](auto k, auto v) { return std::pair{k, v}; }) == "");
}

TEST_CASE("a past is joined with what has its name") {
  constexpr auto joined = [](auto f) {
    return slips_in(kernel<"k">([](Q_ Q, K_ K, V_ V, in<"past_K", batch, past, d8> past_K,
                                   in<"past_V", batch, past, d8> past_V) -> O_ {
      auto [k, v] = decltype(f){}(past_K, past_V);
      return scaled_dot_product<d8, total>(Q, concat<total>(k, K), concat<total>(v, V),
                                           causal<seq, total, align::last>);
    }));
  };
  CHECK(mentions(joined([](auto k, auto v) { return std::pair{v, k}; }), "did you mean past_K?"));
  CHECK(joined([](auto k, auto v) { return std::pair{k, v}; }) == "");
}

TEST_CASE("a past is joined with what follows it") {
  CHECK(slips_in(kernel<"k">([](Q_ Q, in<"K_now", batch, seq, d8> K_now,
                                in<"K_past", batch, past, d8> K_past) -> O_ {
          auto K = concat<total, past, seq>(K_past, K_now);
          return scaled_dot_product<d8, total>(Q, K, K, causal<seq, total, align::last>);
        })) == "");
}

TEST_CASE("keys are made with Wk and values with Wv") {
  constexpr auto projected = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"X", seq, d8> X, param<"Wq", d8, e4> Wq, param<"Wk", d8, e4> Wk,
                       param<"Wv", d8, e4> Wv) -> out<"O", seq, e4> {
          auto y = rename<seq, kv>(X);
          auto [k, v] = decltype(f){}(Wk, Wv);
          return scaled_dot_product<e4, kv>(dot<d8>(X, Wq), dot<d8>(y, k), dot<d8>(y, v));
        }));
  };
  CHECK(mentions(projected([](auto k, auto v) { return std::pair{v, k}; }),
                 "did you exchange them?"));
  CHECK(projected([](auto k, auto v) { return std::pair{k, v}; }) == "");
}

TEST_CASE("a temperature divides and a logit scale multiplies") {
  constexpr auto scaled = [](auto f) {
    return slips_in(kernel<"k">(
        [](Q_ Q, K_ K, V_ V, in<"temperature"> temperature, param<"logit_scale"> scale) -> O_ {
          auto s = dot<d8>(unit_length<d8>(Q), unit_length<d8>(K));
          return dot<kv>(softmax<kv>(decltype(f){}(s, temperature, scale)), V);
        }));
  };
  CHECK(mentions(scaled([](auto s, auto t, auto l) { return s * exp(l) * t; }),
                 "are multiplied by temperature"));
  CHECK(
      mentions(scaled([](auto s, auto t, auto l) { return s / exp(l) / t; }), "did you mean dot("));
  CHECK(scaled([](auto s, auto t, auto l) { return s * exp(l) / t; }) == "");
}

TEST_CASE("a length counts the keys that it is compared with") {
  constexpr auto cached = [](auto f) {
    return slips_in(kernel<"k">([](Q_ Q, in<"K", batch, slots, d8> K, in<"V", batch, slots, d8> V,
                                   in<"past_length", i32, batch> n) -> O_ {
      return scaled_dot_product<d8, slots>(Q, K, V, cached_causal<seq, slots>(decltype(f){}(n)));
    }));
  };
  CHECK(mentions(cached([](auto n) { return n; }), "did you mean past_length + size(seq)"));
  CHECK(cached([](auto n) { return n + size(seq); }) == "");
  constexpr auto padded = [](auto f) {
    return slips_in(
        kernel<"k">([](Q_ Q, in<"K", batch, mem, d8> K, in<"V", batch, mem, d8> V,
                       in<"q_len", i32, batch> q_len, in<"kv_len", i32, batch> kv_len) -> O_ {
          auto [a, b] = decltype(f){}(q_len, kv_len);
          return where(index(seq) < b, scaled_dot_product<d8, mem>(Q, K, V, padding<mem>(a)), 0);
        }));
  };
  CHECK(mentions(padded([](auto q, auto k) { return std::pair{q, k}; }), "did you mean kv_len?"));
  CHECK(padded([](auto q, auto k) { return std::pair{k, q}; }) == "");
  constexpr auto from_end = [](auto f) {
    return slips_in(kernel<"k">([](Q_ Q, K_ K, V_ V, in<"length", i32, batch> n) -> O_ {
      return scaled_dot_product<d8, kv>(Q, K, V, decltype(f){}(n));
    }));
  };
  CHECK(mentions(from_end([](auto n) { return index(kv) < size(kv) - n; }),
                 "did you mean index(kv) < length?"));
  CHECK(from_end([](auto n) { return index(kv) >= size(kv) - n; }) == "");
}

TEST_CASE("masks of other libraries keep their meaning") {
  constexpr auto hidden = [](auto f) {
    return slips_in(kernel<"k">(
        [](Q_ Q, K_ K, V_ V, in<"key_padding_mask", b8, batch, kv> key_padding_mask) -> O_ {
          return scaled_dot_product<d8, kv>(Q, K, V, decltype(f){}(key_padding_mask));
        }));
  };
  CHECK(mentions(hidden([](auto m) { return m; }), "did you mean !key_padding_mask?"));
  CHECK(hidden([](auto m) { return !m; }) == "");
  constexpr auto added = [](auto f) {
    return slips_in(
        kernel<"k">([](Q_ Q, K_ K, V_ V, in<"attention_mask", batch, kv> attention_mask) -> O_ {
          return dot<kv>(softmax<kv>(dot<d8>(Q, K) / sqrt(d8) + decltype(f){}(attention_mask)), V);
        }));
  };
  CHECK(mentions(added([](auto m) { return m * -1e9; }),
                 "did you mean (1 - attention_mask) * -1e+09?"));
  CHECK(added([](auto m) { return (1 - m) * -1e9; }) == "");
}

TEST_CASE("a loss adds up squares, and a result has the name of its kind") {
  constexpr auto loss = [](auto f) {
    return slips_in(kernel<"k">([](in<"y", seq> y, in<"target", seq> target) -> out<"loss"> {
      return mean<seq>(decltype(f){}(y - target));
    }));
  };
  CHECK(mentions(loss([](auto d) { return d; }), "did you mean their squares?"));
  CHECK(loss([](auto d) { return d * d; }) == "");
  CHECK(loss([](auto d) { return abs(d); }) == "");
  constexpr auto both = [](auto f) {
    return slips_in(
        kernel<"k">([](Q_ Q, K_ K) -> outs<out<"lse", batch, seq>, out<"top", batch, seq>> {
          auto s = dot<d8>(Q, K) / sqrt(d8);
          auto [l, m] = decltype(f){}(logsumexp<kv>(s), max<kv>(s));
          return {l, m};
        }));
  };
  CHECK(mentions(both([](auto l, auto m) { return std::pair{m, l}; }), "lse: is made by max<kv>"));
  CHECK(both([](auto l, auto m) { return std::pair{l, m}; }) == "");
}

TEST_CASE("the past comes first, and a table of positions is read at positions") {
  constexpr auto joined = [](auto f) {
    return slips_in(kernel<"k">([](Q_ Q, K_ K, in<"past_K", batch, past, d8> past_K) -> O_ {
      auto k = decltype(f){}(K, past_K);
      return scaled_dot_product<d8, total>(Q, k, k, causal<seq, total, align::last>);
    }));
  };
  CHECK(mentions(joined([](auto K, auto past) { return concat<total>(K, past); }),
                 "did you mean past_K first?"));
  CHECK(joined([](auto K, auto past) { return concat<total>(past, K); }) == "");

  static constexpr axis<"positions", 64> positions;
  constexpr auto placed = [](auto f) {
    return slips_in(kernel<"k">([](in<"tokens", i32, seq> tokens, param<"W", mem, d8> W,
                                   param<"P", positions, d8> P) -> out<"X", seq, d8> {
      return take<mem>(W, tokens) + decltype(f){}(P, tokens);
    }));
  };
  CHECK(mentions(placed([](auto P, auto tokens) { return take<positions>(P, tokens); }),
                 "reads a row of positions for each of tokens"));
  CHECK(placed([](auto P, auto) { return take<positions>(P, index(seq)); }) == "");
}

TEST_CASE("a prefix is seen by all, besides what causality shows") {
  const auto masked = [](auto joined) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   in<"prefix_length", i32> prefix_length) -> out<"O", seq, e4> {
      return scaled_dot_product<d8, kv>(
          Q, K, V, decltype(joined){}(causal<seq, kv>, index(kv) < prefix_length));
    }));
  };
  CHECK(mentions(masked([](auto causal, auto prefix) { return causal && prefix; }),
                 "did you mean ||?"));
  CHECK(masked([](auto causal, auto prefix) { return causal || prefix; }) == "");
}

TEST_CASE("a learned temperature multiplies cosines") {
  CHECK(slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                param<"temperature"> temperature) -> out<"O", seq, e4> {
          auto cosines = dot<d8>(unit_length<d8>(Q), unit_length<d8>(K));
          return dot<kv>(softmax<kv>(cosines * temperature), V);
        })) == "");
}

TEST_CASE("a gate is activated, not what it gates") {
  const auto gated = [](auto joined) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"W_gate", d8, e4> W_gate,
                                   param<"W_up", d8, e4> W_up) -> out<"Y", seq, e4> {
      return decltype(joined){}(dot<d8>(X, W_gate), dot<d8>(X, W_up));
    }));
  };
  CHECK(mentions(gated([](auto gate, auto up) { return gate * silu(up); }), "W_up, not the gate"));
  CHECK(gated([](auto gate, auto up) { return silu(gate) * up; }) == "");
}

TEST_CASE("a bias belongs to the matrix of its name") {
  const auto projected = [](auto biased) {
    return slips_in(kernel<"k">(
        [](in<"X", seq, d8> X, param<"Wq", d8, e4> Wq, param<"bq", e4> bq, param<"Wk", d8, e4> Wk,
           param<"bk", e4> bk) -> outs<out<"q", seq, e4>, out<"k", seq, e4>> {
          auto [q, k] = decltype(biased){}(dot<d8>(X, Wq), dot<d8>(X, Wk), bq, bk);
          return {q, k};
        }));
  };
  CHECK(mentions(
      projected([](auto q, auto k, auto bq, auto bk) { return std::pair{q + bk, k + bq}; }),
      "adds bk to a product with Wq"));
  CHECK(projected([](auto q, auto k, auto bq, auto bk) { return std::pair{q + bq, k + bk}; }) ==
        "");
}

TEST_CASE("a draft is accepted by the target") {
  const auto accepted = [](auto share) {
    return slips_in(kernel<"k">(
        [](in<"target", seq, d8> target, in<"draft", seq, d8> draft) -> out<"share", seq, d8> {
          return decltype(share){}(softmax<d8>(target), softmax<d8>(draft));
        }));
  };
  CHECK(mentions(accepted([](auto p, auto q) { return min(plain(q) / plain(p), 1); }),
                 "divides the draft by the target"));
  CHECK(accepted([](auto p, auto q) { return min(plain(p) / plain(q), 1); }) == "");
  CHECK(mentions(accepted([](auto p, auto q) { return max(plain(q) - plain(p), 0); }),
                 "beyond the target"));
  CHECK(accepted([](auto p, auto q) { return max(plain(p) - plain(q), 0); }) == "");
}

TEST_CASE("logarithms of scales and zeros of whole numbers") {
  const auto scaled = [](auto by) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K,
                                   param<"log_scale"> log_scale) -> out<"logits", seq, kv> {
      return dot<d8>(Q, K) * decltype(by){}(log_scale);
    }));
  };
  CHECK(mentions(scaled([](auto s) { return s; }), "did you mean exp(log_scale)?"));
  CHECK(scaled([](auto s) { return exp(s); }) == "");
  const auto widened = [](auto of) {
    return slips_in(kernel<"k">([](in<"K8", i32, kv, d8> K8, in<"scale", kv> scale,
                                   in<"zero_point", i32, kv> zero) -> out<"K", kv, d8> {
      return decltype(of){}(cast<f32>(K8), scale, cast<f32>(zero));
    }));
  };
  CHECK(mentions(widened([](auto k, auto s, auto z) { return k * s - z; }), "after the scale"));
  CHECK(widened([](auto k, auto s, auto z) { return (k - z) * s; }) == "");
}

TEST_CASE("a length is named after the keys that it counts") {
  const auto cross = [](auto choose) {
    return slips_in(kernel<"k">(
        [](in<"Q", target, d8> Q, in<"K", frames, d8> K, in<"V", frames, e4> V,
           in<"target_length", i32> t,
           in<"frames_length", i32> f) -> outs<out<"O", target, e4>, out<"pooled", e4>> {
          auto s = mask(dot<d8>(Q, K) / sqrt(d8), padding<frames>(decltype(choose){}(t, f)));
          auto O = dot<frames>(softmax<frames>(s), V);
          return {O, mean<target>(mask(O, index(target) < t)) +
                         mean<frames>(mask(V, index(frames) < f))};
        }));
  };
  CHECK(mentions(cross([](auto t, auto) { return t; }),
                 "the keys are masked by target_length; did you mean frames_length?"));
  CHECK(cross([](auto, auto f) { return f; }) == "");
}

TEST_CASE("a perplexity is 1 or more") {
  constexpr auto of = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"x", batch, seq, d8> x, in<"ids", i32, batch, seq> ids) -> out<"perplexity"> {
          return decltype(f){}(take<d8>(x, ids) - logsumexp<d8>(x));
        }));
  };
  CHECK(mentions(of([](auto log_p) { return exp(mean<batch, seq>(log_p)); }),
                 "perplexity is never above 1; did you mean exp(-mean<batch, seq>("));
  CHECK(mentions(of([](auto log_p) { return exp(-mean<batch, seq>(-log_p)); }),
                 "perplexity is never above 1"));
  CHECK(of([](auto log_p) { return exp(-mean<batch, seq>(log_p)); }) == "");
  CHECK(of([](auto log_p) { return exp(mean<batch, seq>(-log_p)); }) == "");
  CHECK(of([](auto log_p) { return 1 / exp(mean<batch, seq>(log_p)); }) == "");
  CHECK(slips_in(kernel<"k">(
            [](in<"x", seq, d8> x, in<"ids", i32, seq> ids) -> out<"inverse_perplexity"> {
              return exp(mean<seq>(take<d8>(x, ids) - logsumexp<d8>(x)));
            })) == "");
  CHECK(slips_in(kernel<"k">([](in<"x", seq, d8> x, in<"ids", i32, seq> ids) -> out<"likelihood"> {
          return exp(mean<seq>(take<d8>(x, ids) - logsumexp<d8>(x)));
        })) == "");
}

}  // namespace qkv::testing::slips
