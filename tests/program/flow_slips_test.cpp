// SPDX-License-Identifier: BSL-1.0
// Later positions, residuals and norms of one side that flow into a step, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr batch_axis<"batch"> batch;
constexpr axis<"tap", 3> tap;

// The slips of causal self-attention to F(X[seq, d]).
template <auto F>
std::string of_layer() {
  return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"W", tap, d8> W, param<"Wq", d8, e4> Wq,
                                 param<"Wk", d8, e4> Wk) -> out<"Y", seq, d8> {
    auto x = F(X, W);
    auto y = rename<seq, kv>(x);
    return scaled_dot_product<e4, kv>(dot<d8>(x, Wq), dot<d8>(y, Wk), y, causal<seq, kv>);
  }));
}
// The slips of X -> F(X, layer), where a layer contracts two params.
template <auto F>
std::string of_block() {
  return slips_in(
      kernel<"k">([](in<"X", seq, d8> X, param<"W1", d8, e4> W1, param<"W2", e4, d8> W2,
                     param<"W3", d8, e4> W3, param<"W4", e4, d8> W4) -> out<"Y", seq, d8> {
        return F(
            X, [&](auto x) { return dot<e4>(dot<d8>(x, W1), W2); },
            [&](auto x) { return dot<e4>(gelu(dot<d8>(x, W3)), W4); });
      }));
}

}  // namespace

TEST_CASE("a causal layer reads positions before its own") {
  constexpr auto ahead = [](auto X, auto W) {
    return sum<tap>(take<seq>(X, min(index(seq) + index(tap), size(seq) - 1)) * W);
  };
  CHECK(mentions(of_layer<ahead>(), "which index(kv) <= index(seq) hides; did you mean those"));
  CHECK(of_layer<[](auto X, auto W) {
          return sum<tap>(take<seq>(X, max(index(seq) - index(tap), 0)) * W);
        }>() == "");
  CHECK(of_layer<[](auto X, auto W) {
          auto at = index(seq) + index(tap) - 2;
          return sum<tap>(where(at >= 0, take<seq>(X, at), 0) * W);
        }>() == "");
  CHECK(of_layer<[](auto X, auto W) {
          return sum<tap>(let<"next">(take<seq>(X, index(seq) + index(tap))) * W);
        }>() == "");
  constexpr auto rest = [](auto X, auto) { return X + (sum<seq>(X) - cumsum<seq>(X)); };
  CHECK(mentions(of_layer<rest>(), "has positions after its own"));
  CHECK(of_layer<[](auto X, auto) { return X + cumsum<seq>(X); }>() == "");
}

TEST_CASE("the summary of a causal layer is its last position") {
  constexpr auto summary = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X) -> out<"y", d8> {
      auto y = rename<seq, kv>(X);
      return decltype(f){}(X + scaled_dot_product<d8, kv>(X, y, y, causal<seq, kv>));
    }));
  };
  CHECK(mentions(summary([](auto h) { return take<seq>(h, 0); }), "sees itself alone"));
  CHECK(summary([](auto h) { return take<seq>(h, size(seq) - 1); }) == "");
}

TEST_CASE("a layer is added to what it was made of") {
  CHECK(mentions(of_block<[](auto X, auto attention, auto mlp) {
                   auto h = X + attention(rms_norm<d8>(X));
                   return X + mlp(rms_norm<d8>(h));
                 }>(),
                 "so that dot(dot(X * rsqrt(mean<d>(X * X) + 1e-06), W1), W2) is lost"));
  CHECK(of_block<[](auto X, auto attention, auto mlp) {
          auto h = X + attention(rms_norm<d8>(X));
          return h + mlp(rms_norm<d8>(h));
        }>() == "");
  CHECK(of_block<[](auto X, auto attention, auto mlp) {  // in parallel
          auto x = rms_norm<d8>(X);
          return X + attention(x) + mlp(x);
        }>() == "");
  CHECK(of_block<[](auto X, auto attention, auto mlp) {  // the midpoint rule
          return X + mlp(X + 0.5f * attention(X));
        }>() == "");
}

TEST_CASE("queries and keys have a norm, or neither has") {
  constexpr auto scores = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"Wq", d8, e4> Wq,
                                   param<"Wk", d8, e4> Wk) -> out<"Y", seq, d8> {
      auto y = rename<seq, kv>(X);
      return dot<kv>(softmax<kv>(decltype(f){}(X, y, Wq, Wk)), y);
    }));
  };
  CHECK(mentions(scores([](auto x, auto y, auto q, auto k) {
                   return dot<e4>(dot<d8>(x, q), dot<d8>(rms_norm<d8>(y), k)) / sqrt(e4);
                 }),
                 "did you mean the norm in both?"));
  CHECK(mentions(scores([](auto x, auto y, auto q, auto k) {
                   return dot<e4>(unit_length<e4>(dot<d8>(x, q)), dot<d8>(y, k));
                 }),
                 "did you mean one of both?"));
  CHECK(scores([](auto x, auto y, auto q, auto k) {
          return dot<e4>(dot<d8>(rms_norm<d8>(x), q), dot<d8>(rms_norm<d8>(y), k)) / sqrt(e4);
        }) == "");
}

TEST_CASE("the last state of a scan is not that of a padded sequence") {
  constexpr auto last = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", batch, seq, d8> X, in<"length", i32, batch> length)
                                    -> outs<out<"s", batch, d8>, out<"m", batch, d8>> {
      auto r = scan<seq>(
          zeros<batch, d8>(), [](auto s, auto x) { return 0.5f * s + x; },
          decltype(f){}(X, index(seq) < length));
      return {r.last, mean<seq>(mask(r.result, index(seq) < length))};
    }));
  };
  CHECK(mentions(last([](auto X, auto) { return X; }), "which the scan has gone through"));
  CHECK(last([](auto X, auto keep) { return where(keep, X, 0); }) == "");
}

TEST_CASE("weights that pool positions do not count padding") {
  constexpr auto pooled = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"X", batch, seq, d8> X, in<"length", i32, batch> length) -> out<"m", batch, d8> {
          auto y = rename<seq, kv>(X);
          auto h = X + scaled_dot_product<d8, kv>(X, y, y, padding<kv>(length));
          return dot<seq>(normalize<seq>(decltype(f){}(cast<f32>(index(seq) + 1), length)), h);
        }));
  };
  CHECK(mentions(pooled([](auto w, auto) { return w; }), "but they are counted here"));
  CHECK(pooled([](auto w, auto n) { return mask(broadcast<batch>(w), padding<seq>(n)); }) == "");
}

TEST_CASE("a recurrence reads positions before its own") {
  constexpr auto scanned = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"mu", d8> mu) -> out<"Y", seq, d8> {
      auto x = X * mu + decltype(f){}(X) * (1 - mu);
      return scan<seq>(zeros<d8>(), [](auto s, auto x) { return 0.5 * s + x; }, x).result;
    }));
  };
  CHECK(mentions(scanned([](auto X) { return take<seq>(X, min(index(seq) + 1, size(seq) - 1)); }),
                 "a scan of seq has not come to"));
  CHECK(scanned([](auto X) { return take<seq>(X, max(index(seq) - 1, 0)); }) == "");
}

TEST_CASE("both recurrences of a quotient decay") {
  constexpr auto averaged = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"w", d8> w) -> out<"Y", seq, d8> {
      auto decay = exp(-exp(w));
      auto fading = [=](auto s, auto x) { return s * decay + x; };
      auto weight = exp(X);
      auto num = scan<seq>(zeros<d8>(), fading, weight * X).result;
      auto add = [=](auto s, auto x) { return decltype(f){}(s, decay) + x; };
      return num / scan<seq>(zeros<d8>(), add, weight).result;
    }));
  };
  CHECK(mentions(averaged([](auto s, auto) { return s; }), "the state of the dividend alone"));
  CHECK(averaged([](auto s, auto decay) { return s * decay; }) == "");
}

TEST_CASE("a running maximum beside recurrences is a shift") {
  constexpr auto normed = [](auto f, auto g) {
    return slips_in(kernel<"k">([](in<"V", seq, d8> V, in<"Q", seq, d8> Q, in<"i", seq> i,
                                   in<"f", seq> F) -> out<"Y", seq, d8> {
      auto larger = [](auto m, auto f, auto i) { return max(f + m, i); };
      auto m = scan<seq>(filled<>(-1e30), larger, F, i).result;
      auto fading = [](auto s, auto f, auto x) { return s * f + x; };
      auto keep = [](auto s, auto f, auto x) { return decltype(g){}(s, f) + x; };
      auto y = scan<seq>(zeros<d8>(), fading, sigmoid(F), V).result;
      auto n = scan<seq>(zeros<d8>(), keep, sigmoid(F), V * V).result;
      return y / decltype(f){}(abs(sum<d8>(n * Q)), exp(-m));
    }));
  };
  constexpr auto decayed = [](auto s, auto f) { return s * f; };
  constexpr auto larger = [](auto n, auto m) { return max(n, m); };
  CHECK(normed(larger, decayed) == "");
  CHECK(normed([](auto, auto m) { return m; }, decayed) == "");
  CHECK(
      mentions(normed(larger, [](auto s, auto) { return s; }), "the state of the dividend alone"));
}

TEST_CASE("the step of a selective recurrence is positive") {
  constexpr auto selective = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"X", seq, d8> X, param<"W", d8, e4> W, param<"A", e4> A) -> out<"Y", seq, e4> {
          auto a = -exp(A);
          auto dt = decltype(f){}(dot<d8>(X, W));
          auto step = [=](auto s, auto t) { return s * exp(t * a) + t; };
          return scan<seq>(zeros<e4>(), step, dt).result;
        }));
  };
  CHECK(mentions(selective([](auto x) { return x; }), "did you mean softplus(..)"));
  CHECK(selective([](auto x) { return softplus(x); }) == "");
}

TEST_CASE("both branches of a block read the norm") {
  const auto block = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"g", d8> g, param<"A", d8, e4> A,
                                   param<"B", e4, d8> B, param<"W1", d8, e4> W1,
                                   param<"W2", e4, d8> W2) -> out<"Y", seq, d8> {
      auto mixed = [&](auto x) { return dot<e4>(silu(dot<d8>(x, A)), B); };
      auto fed = [&](auto x) { return dot<e4>(gelu(dot<d8>(x, W1)), W2); };
      return decltype(f){}(X, rms_norm<d8>(X, g), mixed, fed, B);
    }));
  };
  CHECK(mentions(
      block([](auto x, auto n, auto mixed, auto fed, auto) { return x + mixed(n) + fed(x); }),
      "made of X as it is"));
  CHECK(block([](auto x, auto n, auto mixed, auto fed, auto) { return x + mixed(n) + fed(n); }) ==
        "");
}

TEST_CASE("a residual that carries on its input does so in the next layer") {
  constexpr auto two_layers = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"W", d8, e4> W, param<"U", e4, d8> U,
                                   param<"W2", d8, e4> W2, param<"U2", e4, d8> U2,
                                   param<"g", d8> g) -> out<"Y", seq, d8> {
      const auto layer = [](auto x, auto w, auto u) { return dot<e4>(gelu(dot<d8>(x, w)), u); };
      auto h = X + layer(rms_norm<d8>(X, g), W, U);
      auto n = rms_norm<d8>(h, g);
      return decltype(f){}(h, n, layer(n, W2, U2));
    }));
  };
  CHECK(mentions(two_layers([](auto, auto n, auto y) { return n + y; }), "carries on a norm"));
  CHECK(two_layers([](auto h, auto, auto y) { return h + y; }) == "");
  // norms after both layers
  CHECK(slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"W", d8, e4> W, param<"U", e4, d8> U,
                                param<"g", d8> g) -> out<"Y", seq, d8> {
          const auto layer = [=](auto x) { return dot<e4>(gelu(dot<d8>(x, W)), U); };
          auto n = rms_norm<d8>(X + layer(X), g);
          return rms_norm<d8>(n + layer(n), g);
        })) == "");
}

}  // namespace qkv::testing::slips
