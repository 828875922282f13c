// SPDX-License-Identifier: BSL-1.0
// Rotations of queries and keys, the positions of tables and caches; and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr batch_axis<"batch"> batch;
constexpr batch_axis<"heads", 2> heads;
constexpr axis<"slots"> slots;
constexpr axis<"two", 2> two;
constexpr axis<"half", 4> half;
constexpr axis<"quarter", 2> quarter;
constexpr axis<"front", 4> front;
constexpr axis<"d_model", 16> d_model;
constexpr axis<"wide", 8> wide;
constexpr axis<"packed", 48> packed;
constexpr axis<"distances", 17> distances;
constexpr axis<"vocab", 40> vocab;
constexpr axis<"next"> next;
constexpr axis<"layers", 2> layers;

constexpr auto turned = [](auto x, auto angle) {
  return rope<d8, two, half>(x, cos(angle), sin(angle));
};

}  // namespace

TEST_CASE("features are rotated after they are split into heads") {
  constexpr auto split_heads = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"X", seq, d_model> X) -> out<"Y", heads, seq, d8> { return decltype(f){}(X); }));
  };
  CHECK(mentions(split_heads([](auto X) {
                   auto a = rope_angle<seq, wide>();
                   return split<d_model, heads, d8>(rope<d_model, two, wide>(X, cos(a), sin(a)));
                 }),
                 "did you mean to rotate d after the split?"));
  CHECK(split_heads([](auto X) {
          return turned(split<d_model, heads, d8>(X), rope_angle<seq, half>());
        }) == "");
}

TEST_CASE("queries and keys are rotated alike") {
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto f = pow(10000.0, index(half) * -1.0 / 4);
                   return scaled_dot_product<d8, kv>(turned(Q, index(seq) * f / 4),
                                                     turned(K, index(kv) * f), V);
                 }>(),
                 "did you mean one scale of positions?"));
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto a = rope_angle<seq, quarter>();
                   auto q = rope_partial<d8, front, front>(
                       Q, [&](auto y) { return rope<front, two, quarter>(y, cos(a), sin(a)); });
                   return scaled_dot_product<d8, kv>(q, turned(K, rope_angle<kv, half>()), V);
                 }>(),
                 "is rotated in 2 pairs of features"));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto f = pow(10000.0, index(half) * -1.0 / 4);
          return scaled_dot_product<d8, kv>(turned(Q, index(seq) * f / 4),
                                            turned(K, index(kv) * f / 4), V);
        }>() == "");
}

TEST_CASE("a rotated step is not multiplied by a matrix") {
  constexpr auto absorbed = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"C", kv, e4> C, param<"W", e4, d8> W) -> out<"O", seq, e4> {
          return dot<kv>(softmax<kv>(dot<e4>(decltype(f){}(Q, W), C)), C);
        }));
  };
  CHECK(mentions(
      absorbed([](auto Q, auto W) { return dot<d8>(turned(Q, rope_angle<seq, half>()), W); }),
      "did you mean to rotate the product?"));
  CHECK(absorbed([](auto Q, auto W) { return dot<d8>(Q, W); }) == "");
}

TEST_CASE("frequencies end near 1 / base") {
  constexpr auto of_frequency = [](auto f) {
    return of_attention<[](auto Q, auto K, auto V) {
      auto w = decltype(f){}();
      return scaled_dot_product<d8, kv>(turned(Q, index(seq) * w), turned(K, index(kv) * w), V);
    }>();
  };
  CHECK(mentions(of_frequency([] { return pow(10000.0, index(half) * -1.0 / size(d8)); }),
                 "did you mean / size(half)?"));
  CHECK(of_frequency([] { return pow(10000.0, index(half) * -2.0 / size(d8)); }) == "");
}

TEST_CASE("positions of queries beside a cache are those of its mask") {
  constexpr auto cached = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", batch, seq, d8> Q, in<"K", batch, slots, d8> K,
                                   in<"V", batch, slots, e4> V, in<"length", i32, batch> length,
                                   param<"c", distances, half> c,
                                   param<"s", distances, half> s) -> out<"O", batch, seq, e4> {
      auto at = decltype(f){}(length);
      auto q = rope<d8, two, half>(Q, take<distances>(c, at), take<distances>(s, at));
      return scaled_dot_product<d8, slots>(q, K, V, cached_causal<seq, slots>(length));
    }));
  };
  CHECK(
      mentions(cached([](auto length) { return length - 1; }), "has one position for all of seq"));
  CHECK(cached([](auto length) { return length - size(seq) + index(seq); }) == "");
  constexpr auto single = [](auto f) {
    return slips_in(kernel<"k">([](in<"q", batch, d8> q, in<"K", batch, slots, d8> K,
                                   in<"V", batch, slots, e4> V,
                                   in<"length", i32, batch> length) -> out<"o", batch, e4> {
      auto w = pow(10000.0, index(half) * -1.0 / 4);
      return scaled_dot_product<d8, slots>(turned(q, decltype(f){}(length)*w),
                                           turned(K, index(slots) * w), V, padding<slots>(length));
    }));
  };
  CHECK(mentions(single([](auto length) { return length; }), "did you mean length - 1?"));
  CHECK(single([](auto length) { return length - 1; }) == "");
}

TEST_CASE("tables of distances have one sign, and both sides of a query") {
  constexpr auto shaw = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   param<"Rk", distances, d8> Rk,
                                   param<"Rv", distances, e4> Rv) -> out<"O", seq, e4> {
      auto a = min(max(index(kv) - index(seq), -8), 8) + 8;
      auto b = decltype(f){}(a);
      auto w = softmax<kv>((dot<d8>(Q, K) + take<distances>(dot<d8>(Q, Rk), a)) / sqrt(d8));
      return dot<kv>(w, V) + sum<kv>(broadcast<e4>(w) * take<distances>(Rv, b));
    }));
  };
  CHECK(mentions(shaw([](auto) { return min(max(index(seq) - index(kv), -8), 8) + 8; }),
                 "has distances of the other sign"));
  CHECK(shaw([](auto a) { return a; }) == "");
  constexpr auto biased = [](auto f, auto... masks) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   param<"t", distances> t) -> out<"O", seq, e4> {
      auto s = dot<d8>(Q, K) / sqrt(d8) + take<distances>(t, decltype(f){}());
      if constexpr (sizeof...(masks) == 0)
        return dot<kv>(softmax<kv>(s), V);
      else
        return dot<kv>(softmax<kv>(mask(s, causal<seq, kv>)), V);
    }));
  };
  constexpr auto before = [] { return min(max(index(seq) - index(kv), 0), 16); };
  CHECK(mentions(biased(before), "is 0 for every key after its query, and no mask hides those"));
  CHECK(biased(before, 1) == "");
  CHECK(mentions(biased([] { return min(max(index(kv) - index(seq), 0), 16); }),
                 "is 0 for every key before its query"));
  CHECK(biased([] { return min(max(index(kv) - index(seq), -8), 8) + 8; }) == "");
}

TEST_CASE("parts of a projection follow each other") {
  constexpr auto parts = [](auto second) {
    return slips_in(kernel<"k">([](in<"P", seq, packed> P) -> out<"Y", seq, d_model> {
      return slice<packed, d_model>(P, 0) * slice<packed, d_model>(P, decltype(second)::value) +
             slice<packed, d_model>(P, 32);
    }));
  };
  CHECK(mentions(parts(std::integral_constant<int, 8>()), "and others are never taken"));
  CHECK(parts(std::integral_constant<int, 16>()) == "");
}

TEST_CASE("parts of renamed positions follow each other, too") {
  constexpr auto parts = [](auto second) {
    return slips_in(kernel<"k">([](in<"P", seq, packed> P) -> out<"Y", seq, d_model> {
      auto K = slice<packed, d_model>(rename<seq, kv>(P), decltype(second)::value);
      auto V = slice<packed, d_model>(rename<seq, kv>(P), 32);
      return scaled_dot_product<d_model, kv>(slice<packed, d_model>(P, 0), K, V);
    }));
  };
  CHECK(mentions(parts(std::integral_constant<int, 1>()), "and others are never taken"));
  CHECK(parts(std::integral_constant<int, 16>()) == "");
}

TEST_CASE("the halves of a rotation have two signs") {
  constexpr auto halves = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X) -> out<"Y", seq, d8> {
      auto a = slice<d8, half>(X, 0);
      auto b = slice<d8, half>(X, 4);
      auto c = cos(rope_angle<seq, half>());
      auto s = sin(rope_angle<seq, half>());
      return decltype(f){}(a * c, b * s, b * c, a * s);
    }));
  };
  CHECK(mentions(halves([](auto ac, auto bs, auto bc, auto as) {
                   return concat<d8, half, half>(ac + bs, bc + as);
                 }),
                 "which is not a rotation"));
  CHECK(halves([](auto ac, auto bs, auto bc, auto as) {
          return concat<d8, half, half>(ac - bs, bc + as);
        }) == "");
  CHECK(halves([](auto ac, auto bs, auto bc, auto as) {  // the other way round
          return concat<d8, half, half>(ac + bs, bc - as);
        }) == "");
}

TEST_CASE("each layer has its own params") {
  constexpr auto stack = [](auto second) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"W1", layers, d8, e4> W1,
                                   param<"W2", layers, e4, d8> W2) -> out<"Y", seq, d8> {
      auto a = X + dot<e4>(gelu(dot<d8>(X, take<layers>(W1, 0))), take<layers>(W2, 0));
      auto w = take<layers>(W1, decltype(second)::value);
      return a + dot<e4>(gelu(dot<d8>(a, w)), take<layers>(W2, 1));
    }));
  };
  CHECK(mentions(stack(std::integral_constant<int, 0>()), "did you mean another position in one?"));
  CHECK(stack(std::integral_constant<int, 1>()) == "");
}

TEST_CASE("a position is asked for the next token") {
  constexpr auto loss = [](auto logits, auto target) {
    return slips_in(kernel<"k">([](in<"h", seq, d8> h, in<"tokens", i32, seq> tokens,
                                   param<"E", vocab, d8> E) -> out<"loss"> {
      auto l = slice<seq, next>(dot<d8>(h, E), decltype(logits)::value);
      auto t = slice<seq, next>(tokens, decltype(target)::value);
      return mean<next>(logsumexp<vocab>(l) - take<vocab>(l, t));
    }));
  };
  using zero = std::integral_constant<int, 0>;
  using one = std::integral_constant<int, 1>;
  CHECK(mentions(loss(one(), zero()), "did you exchange 1 and 0?"));
  CHECK(loss(zero(), one()) == "");
}

TEST_CASE("the decay of a forget gate is a logarithm, of the query less the key") {
  constexpr auto fox = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   in<"f", seq> gate) -> out<"O", seq, e4> {
      auto bias = decltype(f){}(gate);
      return dot<kv>(softmax<kv>(mask(dot<d8>(Q, K) / sqrt(d8) + bias, causal<seq, kv>)), V);
    }));
  };
  constexpr auto less = [](auto a, auto b) {
    return broadcast<kv>(a) - broadcast<seq>(rename<seq, kv>(b));
  };
  CHECK(mentions(fox([](auto f) {
                   auto c = cumsum<seq>(sigmoid(f));
                   return decltype(less){}(c, c);
                 }),
                 "did you mean cumsum<seq>(log(sigmoid(f)))?"));
  CHECK(mentions(fox([](auto f) {
                   auto c = cumsum<seq>(log(sigmoid(f)));
                   return broadcast<seq>(rename<seq, kv>(c)) - broadcast<kv>(c);
                 }),
                 "did you exchange its operands?"));
  CHECK(fox([](auto f) {
          auto c = cumsum<seq>(log(sigmoid(f)));
          return decltype(less){}(c, c);
        }) == "");
}

constexpr auto scaled = [](auto x, auto position, double sign) {
  auto a = rope_angle<position, half>();
  auto zeta = pow((index(half) * 0.25 + 0.4) / 1.4, index(position) * (sign / 512));
  return rope<d8, two, half>(x, cos(a) * zeta, sin(a) * zeta);
};

TEST_CASE("powers of positions in rotations of queries and of keys are inverse") {
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   return scaled_dot_product<d8, kv>(scaled(Q, seq, 1), scaled(K, kv, 1), V);
                 }>(),
                 "did you mean the inverse for keys?"));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          return scaled_dot_product<d8, kv>(scaled(Q, seq, 1), scaled(K, kv, -1), V);
        }>() == "");
}

TEST_CASE("rows and columns turn both sides") {
  constexpr auto of_image = [](auto of_keys) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"row", i32, seq> row,
                                   in<"col", i32, seq> col) -> out<"S", seq, kv> {
      auto rate = pow(100, index(quarter) * -1.0 / 2);
      auto a = cast<f32>(row) * rate;
      auto c = cast<f32>(col) * rate;
      const auto turn = [](auto x, auto a, auto b) {
        auto u = rope<half, two, quarter>(slice<d8, half>(x, 0), cos(a), sin(a));
        auto v = rope<half, two, quarter>(slice<d8, half>(x, 4), cos(b), sin(b));
        return concat<d8, half, half>(u, v);
      };
      auto second = decltype(of_keys){}(a, c);
      auto queries = turn(Q, a, c);
      auto keys = turn(K, rename<seq, kv>(a), rename<seq, kv>(second));
      return softmax<kv>(dot<d8>(queries, keys) / sqrt(d8));
    }));
  };
  CHECK(mentions(of_image([](auto a, auto) { return a; }),
                 "one side is turned by angles of col, too, the other by those of row alone"));
  CHECK(of_image([](auto, auto c) { return c; }) == "");
}

}  // namespace qkv::testing::slips
