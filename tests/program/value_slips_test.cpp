// SPDX-License-Identifier: BSL-1.0
// Contractions of weights and values whose scale or masks do not fit, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>
#include <type_traits>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr axis<"d", 64> d;
constexpr axis<"e", 32> e;
constexpr axis<"table", 129> table;
constexpr axis<"low", 64> low;
constexpr axis<"one"> one;
constexpr axis<"other"> other;

// The slips of softmax<kv>(Formula(Q[seq, d], K[kv, d])).
template <auto Formula>
std::string of_products() {
  const auto k = kernel<"k">([](in<"Q", seq, d> Q, in<"K", kv, d> K) -> out<"W", seq, kv> {
    return softmax<kv>(Formula(Q, K));
  });
  return lines_of(codegen::make_program(k));
}

// The slips of the weights of Scores(dot(Q, K)) with Values(V[kv, e]).
template <auto Scores, auto Values>
std::string of_values() {
  const auto k =
      kernel<"k">([](in<"Q", seq, d> Q, in<"K", kv, d> K, in<"V", kv, e> V) -> out<"O", seq, e> {
        return dot<kv>(Scores(dot<d>(Q, K)), Values(V));
      });
  return lines_of(codegen::make_program(k));
}
constexpr auto as_they_are = [](auto V) { return V; };

// The slips of one attention less half of that of Other(scores).
template <auto Other>
std::string of_less() {
  return of_attention<[](auto Q, auto K, auto V) {
    auto s = dot<d8>(Q, K) / sqrt(d8);
    auto masked = mask(s, causal<seq, kv>);
    return dot<kv>(softmax<kv>(masked), V) - 0.5 * dot<kv>(softmax<kv>(Other(s)), V);
  }>();
}

}  // namespace

TEST_CASE("weights add up to 1 where values are weighed") {
  CHECK(mentions(of_values<[](auto s) { return softmax<kv>(s / sqrt(d)) / 0.7; }, as_they_are>(),
                 "the weights over kv add up to 1.43, not 1"));
  CHECK(of_values<[](auto s) { return softmax<kv>(s / sqrt(d) / 0.7); }, as_they_are>() == "");
  CHECK(of_values<[](auto s) { return let<"w">(softmax<kv>(s / sqrt(d)) / 0.7); }, as_they_are>() ==
        "");
}

TEST_CASE("scores are scaled, not values") {
  CHECK(mentions(
      of_values<[](auto s) { return softmax<kv>(s); }, [](auto V) { return V / sqrt(e); }>(),
      "the values are divided by sqrt(e), the scores by nothing"));
  CHECK(of_values<[](auto s) { return softmax<kv>(s / sqrt(d)); }, as_they_are>() == "");
  CHECK(of_values<[](auto s) { return softmax<kv>(s); }, [](auto V) { return V / 3; }>() == "");
}

TEST_CASE("a scale is applied once, also where one is a number") {
  CHECK(mentions(of_products<[](auto Q, auto K) { return dot<d>(Q * 0.125, K) / sqrt(d); }>(),
                 "divided by the root of d twice"));
  CHECK(mentions(of_products<[](auto Q, auto K) { return dot<d>(Q, K * 0.125) * 0.125; }>(),
                 "divided by the root of d twice"));
  CHECK(of_products<[](auto Q, auto K) { return dot<d>(Q * 0.125, K); }>() == "");
  CHECK(of_products<[](auto Q, auto K) { return dot<d>(Q * 0.5, K) / sqrt(d); }>() == "");
}

TEST_CASE("scores that are bounded far below 1 make no difference") {
  CHECK(mentions(of_products<[](auto Q, auto K) {
                   return dot<d>(unit_length<d>(Q), unit_length<d>(K)) * 0.125;
                 }>(),
                 "lie between -0.12 and 0.12"));
  CHECK(
      mentions(of_products<[](auto Q, auto K) { return tanh(dot<d>(Q, K) / sqrt(d) * 50) / 50; }>(),
               "all weights are nearly equal"));
  CHECK(of_products<[](auto Q, auto K) {
          return dot<d>(unit_length<d>(Q), unit_length<d>(K)) * 10;
        }>() == "");
  CHECK(of_products<[](auto Q, auto K) { return 50 * tanh(dot<d>(Q, K) / sqrt(d) / 50); }>() == "");
}

TEST_CASE("an entropy adds up along the axis of its weights") {
  const auto slips_of_entropy = [](auto total) {
    return lines_of(codegen::make_program(kernel<"k">(
        [](in<"S", seq, kv> S) -> out<"h"> { return decltype(total)()(softmax<kv>(S)); })));
  };
  CHECK(mentions(slips_of_entropy([](auto w) { return -sum<kv>(sum<seq>(w * log(w + 1e-9))); }),
                 "are weights over kv; did you mean sum<kv>"));
  CHECK(slips_of_entropy([](auto w) { return -sum<seq>(sum<kv>(w * log(w + 1e-9))); }) == "");
  CHECK(slips_of_entropy([](auto w) { return -sum<seq, kv>(w * log(w + 1e-9)); }) == "");
}

TEST_CASE("a sink that an argument gives is the logarithm of a weight") {
  const auto slips_of_sink = [](auto sink) {
    return lines_of(codegen::make_program(kernel<"k">(
        [](in<"S", seq, kv> S, in<"V", kv, e> V, param<"sink"> logit) -> out<"O", seq, e> {
          auto weights = exp(S - max<kv>(S));
          return dot<kv>(weights, V) / (sum<kv>(weights) + decltype(sink)()(logit, max<kv>(S)));
        })));
  };
  CHECK(
      mentions(slips_of_sink([](auto logit, auto) { return logit; }), "did you mean exp(sink - "));
  CHECK(slips_of_sink([](auto logit, auto most) { return exp(logit - most); }) == "");
}

TEST_CASE("a distance is clamped on the side that is seen") {
  const auto slips_of_distance = [](auto position) {
    return lines_of(codegen::make_program(
        kernel<"k">([](in<"S", seq, kv> S, param<"T", table> T) -> out<"W", seq, kv> {
          return softmax<kv>(mask(S + take<table>(T, decltype(position)()()), causal<seq, kv>));
        })));
  };
  CHECK(mentions(slips_of_distance([] { return max(index(kv) - index(seq), 0); }),
                 "is 0 wherever index(kv) <= index(seq) is true"));
  CHECK(slips_of_distance([] { return max(index(seq) - index(kv), 0); }) == "");
  CHECK(slips_of_distance([] { return max(index(kv) - index(seq) + 9, 0); }) == "");
}

TEST_CASE("weights whose sums are subtracted are masked alike") {
  CHECK(mentions(of_less<[](auto s) { return s * 2; }>(), "did you mean to mask both?"));
  CHECK(of_less<[](auto s) { return mask(s * 2, causal<seq, kv>); }>() == "");
  CHECK(mentions(
      slips_in(kernel<"k">([](in<"s", seq, kv> s, in<"t", seq, kv> t, in<"X", kv, d8> X,
                              param<"Wv", d8, e> Wv, param<"share"> share) -> out<"O", seq, e> {
        auto values = dot<d8>(X, Wv);
        return dot<kv>(softmax<kv>(mask(s, causal<seq, kv>)), values) -
               dot<kv>(softmax<kv>(t), values) * share;
      })),
      "did you mean to mask both?"));
}

TEST_CASE("a logarithm of all weights has the scale of masked scores, too") {
  const auto slips_of_total = [](auto divisor) {
    constexpr double by = decltype(divisor)::value;
    return lines_of(codegen::make_program(
        kernel<"k">([](in<"Q", seq, d> Q, in<"K", kv, d> K,
                       in<"V", kv, e> V) -> outs<out<"O", seq, e>, out<"lse", seq>> {
          auto raw = mask(dot<d>(Q, K), causal<seq, kv>);
          auto scores = raw / sqrt(d);
          if constexpr (by == 1)
            return {dot<kv>(softmax<kv>(scores), V), logsumexp<kv>(raw)};
          else
            return {dot<kv>(softmax<kv>(scores), V), logsumexp<kv>(scores)};
        })));
  };
  CHECK(mentions(slips_of_total(std::integral_constant<int, 1>()), "without the scale"));
  CHECK(slips_of_total(std::integral_constant<int, 8>()) == "");
}

TEST_CASE("positions begin at 0") {
  constexpr auto of_positions = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"X", seq, d8> X) -> out<"Y", seq, d8> { return decltype(f){}(X, index(seq)); }));
  };
  CHECK(mentions(of_positions([](auto X, auto i) { return X * log(i); }), "is -inf where"));
  CHECK(of_positions([](auto X, auto i) { return X * log(i + 1); }) == "");
  CHECK(of_positions([](auto X, auto i) { return where(i > 0, X * log(i), X); }) == "");
}

TEST_CASE("cosines have a temperature of their own") {
  constexpr auto cosines = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, param<"tau"> tau) -> out<"W", seq, kv> {
          return softmax<kv>(decltype(f){}(dot<d8>(unit_length<d8>(Q), unit_length<d8>(K)) * tau));
        }));
  };
  CHECK(mentions(cosines([](auto s) { return s / sqrt(d8); }), "which is for products"));
  CHECK(cosines([](auto s) { return s; }) == "");
}

TEST_CASE("the logarithm of a distance has its 1 where the distance has a factor, too") {
  constexpr auto biased = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, param<"r"> r) -> out<"W", seq, kv> {
          auto bias = decltype(f){}(softplus(r) * abs(index(seq) - index(kv)));
          return softmax<kv>(dot<d8>(Q, K) / sqrt(d8) - bias);
        }));
  };
  CHECK(mentions(biased([](auto x) { return log(x); }),
                 "is -inf where abs(index(seq) - index(kv)) is 0"));
  CHECK(biased([](auto x) { return log(1 + x); }) == "");
  CHECK(biased([](auto x) { return log1p(x); }) == "");
}

TEST_CASE("the temperature of a loss divides its cosines") {
  constexpr auto loss = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", one, d8> X, in<"Y", other, d8> Y) -> out<"L", one> {
      return logsumexp<other>(decltype(f){}(dot<d8>(unit_length<d8>(X), unit_length<d8>(Y))));
    }));
  };
  CHECK(mentions(loss([](auto s) { return s * 0.1; }), "lie between -0.1 and 0.1"));
  CHECK(loss([](auto s) { return s / 0.1; }) == "");
}

TEST_CASE("of two maps, the one that is subtracted is scaled") {
  constexpr auto difference = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"R", seq, d8> R, in<"K", kv, d8> K,
                                   param<"lambda"> lambda) -> out<"W", seq, kv> {
      return decltype(f){}(softmax<kv>(dot<d8>(Q, K) / sqrt(d8)),
                           softmax<kv>(dot<d8>(R, K) / sqrt(d8)), lambda);
    }));
  };
  CHECK(mentions(difference([](auto a, auto b, auto l) { return l * a - b; }),
                 "lambda scales the weights that the others are taken off"));
  CHECK(difference([](auto a, auto b, auto l) { return a - l * b; }) == "");
  CHECK(difference([](auto a, auto b, auto l) { return let<"meant">(l * a) - b; }) == "");
}

TEST_CASE("a share is a position once it is multiplied by a size") {
  constexpr auto centred = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, param<"v", d8> v,
                                   in<"V", kv, e4> V) -> out<"O", seq, e4> {
      auto away = cast<f32>(index(kv)) - decltype(f){}(sigmoid(dot<d8>(Q, v)));
      return dot<kv>(softmax<kv>(dot<d8>(Q, K) / sqrt(d8)) * exp(-away * away / 50), V);
    }));
  };
  CHECK(mentions(centred([](auto s) { return s; }), "did you mean size(kv) * sigmoid(dot(Q, v))?"));
  CHECK(centred([](auto s) { return s * size(kv); }) == "");
}

TEST_CASE("the scale of scores is that of what they contract, not of their keys") {
  constexpr auto compressed = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"E", kv, low> E) -> out<"W", seq, low> {
          return softmax<low>(decltype(f){}(dot<d8>(Q, dot<kv>(K, E))));
        }));
  };
  CHECK(mentions(compressed([](auto s) { return s / sqrt(low); }), "did you mean / sqrt(d)?"));
  CHECK(compressed([](auto s) { return s / sqrt(d8); }) == "");
}

}  // namespace qkv::testing::slips
