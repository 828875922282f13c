// SPDX-License-Identifier: BSL-1.0
// Formulas of scores and weights that are slips, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>
#include <type_traits>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {

namespace {

constexpr axis<"experts", 4> experts;
constexpr axis<"hidden", 16> hidden;

template <auto Scores>
std::string of_biased() {
  return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                 param<"B", seq, kv> B, param<"b", kv> b) -> out<"O", seq, e4> {
    return dot<kv>(softmax<kv>(Scores(dot<d8>(Q, K), B, b)), V);
  }));
}

// Weights shifted by hand, beside a sink.
template <auto Sink>
std::string of_sink() {
  return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                 param<"sink"> sink) -> out<"O", seq, e4> {
    auto s = dot<d8>(Q, K) / sqrt(d8);
    auto top = max(max<kv>(s), sink);
    auto e = exp(s - top);
    return dot<kv>(e, V) / (sum<kv>(e) + Sink(sink, top));
  }));
}

template <auto Gates>
std::string of_mixture() {
  return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"Wg", d8, experts> Wg,
                                 param<"W1", experts, d8, hidden> W1,
                                 param<"W2", experts, hidden, d8> W2) -> out<"Y", seq, d8> {
    return dot<experts, hidden>(relu(dot<d8>(X, W1)) * Gates(dot<d8>(X, Wg)), W2);
  }));
}

}  // namespace

TEST_CASE("a bias of pairs comes after the scale") {
  CHECK(mentions(of_biased<[](auto s, auto B, auto) { return (s + B) / sqrt(d8); }>(),
                 "divides B by the root of the features, too; did you mean to add it after"));
  CHECK(of_biased<[](auto s, auto B, auto) { return s / sqrt(d8) + B; }>() == "");
  CHECK(of_biased<[](auto s, auto B, auto) { return let<"both">((s + B) / sqrt(d8)); }>() == "");
  // a bias of keys alone, as of classes, is part of the logits
  CHECK(of_biased<[](auto s, auto, auto b) { return (s + b) / sqrt(size(d8)); }>() == "");
  CHECK(of_biased<[](auto s, auto B, auto) { return (s + B) / 2; }>() == "");
}

TEST_CASE("a sink is shifted as the scores are") {
  CHECK(mentions(of_sink<[](auto sink, auto) { return exp(sink); }>(),
                 "adds an exponential that is not shifted by"));
  CHECK(of_sink<[](auto sink, auto top) { return exp(sink - top); }>() == "");
}

TEST_CASE("a cap divides what tanh takes") {
  CHECK(mentions(of_biased<[](auto s, auto, auto) { return 50 * tanh(s / sqrt(d8)); }>(),
                 "is nearly 50 or -50 for most of"));
  CHECK(of_biased<[](auto s, auto, auto) { return 50 * tanh(s / sqrt(d8) / 50); }>() == "");
  CHECK(of_biased<[](auto s, auto, auto) { return 30 * tanh(s * (1 / 30.0)); }>() == "");
  // pointer networks bound logits by 10
  CHECK(of_biased<[](auto s, auto, auto) { return 10 * tanh(s / sqrt(d8)); }>() == "");
}

TEST_CASE("gates of experts add up to 1 over the experts") {
  CHECK(mentions(of_mixture<[](auto s) { return softmax<seq>(s); }>(),
                 "what is 1 over seq; did you mean softmax over another axis?"));
  CHECK(of_mixture<[](auto s) { return softmax<experts>(s); }>() == "");
}

TEST_CASE("squared distances lower scores") {
  const auto scores = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V, in<"P", seq, e4> P,
                       in<"R", kv, e4> R, param<"gamma"> gamma) -> out<"O", seq, e4> {
          auto apart = broadcast<kv>(P) - broadcast<seq>(R);
          auto far = sum<e4>(apart * apart) * softplus(gamma);
          return dot<kv>(softmax<kv>(decltype(f){}(dot<d8>(Q, K) / sqrt(d8), far)), V);
        }));
  };
  CHECK(
      mentions(scores([](auto s, auto far) { return s + far; }), "so that the farthest keys gain"));
  CHECK(scores([](auto s, auto far) { return s - far; }) == "");
}

TEST_CASE("a decay is 0 for later keys") {
  const auto read = [](auto rest) {
    return of_attention<[](auto Q, auto K, auto V) {
      auto back = cast<f32>(max(index(seq) - index(kv), 0));
      auto D = where(index(kv) <= index(seq), pow(0.9, back), decltype(rest)::value);
      return dot<kv>(dot<d8>(Q, K) / sqrt(d8) * D, V);
    }>();
  };
  CHECK(mentions(read(std::integral_constant<int, 1>()), "did you mean 0 in place of 1?"));
  CHECK(read(std::integral_constant<int, 0>()) == "");
}

namespace {

// The slips of dot<kv>(Weights(scores), V).
template <auto Weights>
std::string of_weights() {
  return of_attention<[](auto Q, auto K, auto V) {
    return dot<kv>(Weights(dot<d8>(Q, K) / sqrt(d8)), V);
  }>();
}

// The slips of softmax<kv>(10 * dot<d8>(Query(Q), Key(K))).
template <auto Query, auto Key>
std::string of_lengths() {
  return of_attention<[](auto Q, auto K, auto V) {
    return dot<kv>(softmax<kv>(10 * dot<d8>(Query(Q), Key(K))), V);
  }>();
}
constexpr auto by_length = [](auto x) { return x / sqrt(sum<d8>(x * x) + 1e-6); };
constexpr auto by_square = [](auto x) { return x / (sum<d8>(x * x) + 1e-6); };
constexpr auto as_it_is = [](auto x) { return x; };
constexpr auto of_length_1 = [](auto x) { return unit_length<d8>(x); };

// The slips of a drop by random numbers.
template <auto Formula>
std::string of_drop() {
  return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"seed", i32> seed) -> out<"Y", seq, d8> {
    return Formula(X, uniform<seq, d8>(seed));
  }));
}

}  // namespace

TEST_CASE("1 is added to a sum of weights, not to each of them") {
  const std::string each = "adds 1 to each weight over kv";
  CHECK(mentions(of_weights<[](auto s) { return exp(s) / sum<kv>(exp(s)) + 1; }>(), each));
  CHECK(mentions(of_weights<[](auto s) { return 1 + normalize<kv>(exp(s)); }>(), each));
  CHECK(of_weights<[](auto s) { return exp(s) / (sum<kv>(exp(s)) + 1); }>() == "");
  // gates: each value times 1 and more
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto w = softmax<kv>(dot<d8>(Q, K) / sqrt(d8));
          auto keys = softmax<e4>(V);
          return dot<kv>(w, V * (1 + plain(keys)));
        }>() == "");
}

TEST_CASE("two parts are divided by the sum of their weights") {
  const auto of = [](auto f) {
    return slips_in(kernel<"k">([](in<"a", seq, d8> a, in<"b", seq, d8> b, in<"l", seq> l,
                                   in<"m", seq> m) -> out<"Y", seq, d8> {
      auto top = max(l, m);
      return decltype(f){}(a, b, exp(l - top), exp(m - top));
    }));
  };
  CHECK(mentions(of([](auto a, auto b, auto v, auto w) { return (v * a + w * b) / (v + v); }),
                 "divides by twice"));
  CHECK(mentions(of([](auto a, auto b, auto v, auto w) { return (v * a + w * b) / (w + w); }),
                 "divides by twice"));
  CHECK(of([](auto a, auto b, auto v, auto w) { return (v * a + w * b) / (v + w); }) == "");
  CHECK(of([](auto a, auto b, auto v, auto w) { return (v * a + w * b) / (2 * v); }) == "");
  CHECK(of([](auto a, auto b, auto v, auto w) { return (a - w * b) / (v + v); }) == "");
}

TEST_CASE("cosines have the root of both squares") {
  const std::string one = "by the square of its length, and";
  CHECK(mentions(of_lengths<by_square, by_length>(), one));
  CHECK(mentions(of_lengths<of_length_1, by_square>(), one));
  CHECK(of_lengths<by_length, by_length>() == "");
  // a projection onto a step
  CHECK(of_lengths<by_square, as_it_is>() == "");
  CHECK(of_lengths<by_length, as_it_is>() == "");
}

TEST_CASE("what a drop keeps is divided by its share") {
  const std::string kept = "multiplies by the share that is kept; did you mean / 0.9?";
  CHECK(mentions(of_drop<[](auto x, auto u) { return where(u < 0.1, 0, x * 0.9); }>(), kept));
  CHECK(mentions(of_drop<[](auto x, auto u) { return where(u >= 0.1, 0.9 * x, 0); }>(), kept));
  CHECK(mentions(of_drop<[](auto x, auto u) { return where(u < 0.1, 0, x) * 0.9; }>(), kept));
  constexpr auto of_dropout = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"seed", i32> seed) -> out<"Y", seq, d8> {
      return decltype(f){}(X, seed);
    }));
  };
  CHECK(mentions(of_dropout([](auto x, auto seed) { return dropout<0.1>(x, seed) * 0.9; }),
                 "by which dropout has divided"));
  CHECK(of_dropout([](auto x, auto seed) { return dropout<0.1>(x, seed); }) == "");
  CHECK(of_dropout([](auto x, auto seed) { return x + 0.5 * dropout<0.1>(x, seed); }) == "");
  CHECK(of_dropout([](auto x, auto seed) { return x + 0.5 * dropout<0.5>(x, seed); }) == "");
  CHECK(of_drop<[](auto x, auto u) { return where(u < 0.1, 0, x / 0.9); }>() == "");
  CHECK(of_drop<[](auto x, auto u) { return where(u < 0.1, 0, x * (1 / 0.9)); }>() == "");
  CHECK(of_drop<[](auto x, auto u) { return x + where(u < 0.1, 0, 0.5 / 0.9 * x); }>() == "");
  CHECK(of_drop<[](auto x, auto u) { return where(u < 0.1, -1, x * 0.9); }>() == "");
  // half a layer
  CHECK(of_drop<[](auto x, auto u) { return x + where(u < 0.5, 0, 0.5 * x) * 2; }>() == "");
}

TEST_CASE("a second attention is subtracted by the factor of its paper") {
  constexpr auto of_two = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"Q1", seq, d8> Q1, in<"Q2", seq, d8> Q2, in<"K", kv, d8> K,
                       in<"V", kv, e4> V, param<"l", d8> l, param<"m", d8> m) -> out<"O", seq, e4> {
          auto lambda = exp(sum<d8>(l * m)) - exp(sum<d8>(l * l)) + 0.8;
          auto first = softmax<kv>(dot<d8>(Q1, K) / sqrt(d8));
          auto second = softmax<kv>(dot<d8>(Q2, K) / sqrt(d8));
          return decltype(f){}(first, second, V, lambda);
        }));
  };
  const std::string minus = "is made of a difference; did you mean a minus?";
  CHECK(mentions(of_two([](auto a, auto b, auto v, auto l) { return dot<kv>(a + l * b, v); }),
                 minus));
  CHECK(mentions(
      of_two([](auto a, auto b, auto v, auto l) { return dot<kv>(a, v) + dot<kv>(b, v) * l; }),
      minus));
  CHECK(of_two([](auto a, auto b, auto v, auto l) { return dot<kv>(a - l * b, v); }) == "");
  CHECK(mentions(
      of_two([](auto a, auto b, auto v, auto l) { return dot<kv>(a + 0.8 * b, v) + 0 * l; }),
      "did you mean a minus, or 1 - 0.8 as the factor of the first?"));
  CHECK(of_two([](auto a, auto b, auto v, auto l) {
          return dot<kv>(0.2 * a + 0.8 * b, v) + 0 * l;
        }) == "");
  CHECK(of_two([](auto a, auto b, auto v, auto l) { return dot<kv>(a - 0.8 * b, v) + 0 * l; }) ==
        "");
}

TEST_CASE("what earlier queries leave out is taken off the scores") {
  constexpr auto selective = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"S", seq, kv> S,
                                   in<"V", kv, e4> V) -> out<"O", seq, e4> {
      auto chosen = where(index(kv) < index(seq), relu(S), 0);
      auto s = decltype(f){}(dot<d8>(Q, K) / sqrt(d8), chosen, S);
      return dot<kv>(softmax<kv>(mask(s, causal<seq, kv>)), V);
    }));
  };
  const std::string grows = "adds what grows at each position of seq";
  CHECK(mentions(selective([](auto s, auto c, auto) { return s + cumsum<seq>(c); }), grows));
  CHECK(mentions(selective([](auto s, auto c, auto) { return s + (cumsum<seq>(c) - c); }), grows));
  CHECK(selective([](auto s, auto c, auto) { return s - cumsum<seq>(c); }) == "");
  CHECK(selective([](auto s, auto c, auto) { return s - (cumsum<seq>(c) - c); }) == "");
  // numbers of either sign
  CHECK(selective([](auto s, auto c, auto x) { return s + cumsum<seq>(x) - c; }) == "");
}

TEST_CASE("the largest share is kept, not the others") {
  constexpr auto routed = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"X", seq, d8> X, param<"Wr", d8, e4> Wr, param<"W", e4, d8> W) -> out<"Y", seq, d8> {
          auto p = softmax<e4>(dot<d8>(X, Wr));
          return decltype(f){}(p, max<e4>(p), W);
        }));
  };
  const std::string others = "keeps all shares but the largest; did you mean >=";
  CHECK(mentions(routed([](auto p, auto top, auto w) { return dot<e4>(where(p < top, p, 0), w); }),
                 others));
  CHECK(mentions(routed([](auto p, auto top, auto w) { return dot<e4>(where(top > p, p, 0), w); }),
                 others));
  CHECK(routed([](auto p, auto top, auto w) { return dot<e4>(where(p >= top, p, 0), w); }) == "");
  // the second largest
  CHECK(routed([](auto p, auto top, auto w) {
          auto second = max<e4>(where(p < top, p, 0));
          return dot<e4>(where(p >= second, p, 0), w);
        }) == "");
}

TEST_CASE("a row of a table is added after the scale of the product") {
  constexpr auto biased = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   param<"T", e4> T) -> out<"O", seq, e4> {
      auto row = take<e4>(T, min(max(index(seq) - index(kv), 0), 3));
      auto s = decltype(f){}(dot<d8>(Q, K), row);
      return dot<kv>(softmax<kv>(mask(s, causal<seq, kv>)), V);
    }));
  };
  CHECK(mentions(biased([](auto s, auto row) { return (s + row) / sqrt(d8); }),
                 "by the root of the features, too"));
  CHECK(biased([](auto s, auto row) { return s / sqrt(d8) + row; }) == "");
}

}  // namespace qkv::testing::slips
