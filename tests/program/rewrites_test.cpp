// SPDX-License-Identifier: BSL-1.0
// Rewrites keep the meaning of a spec where constants are involved.
#include "codegen/rewrites/rewrites.hpp"

#include <qkv/dsl.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/program/queries.hpp"
#include "tests/catch.hpp"
#include "tests/support/meaning.hpp"

namespace qkv::testing {
namespace {

constexpr axis<"seq"> seq;
constexpr axis<"odd", 257> odd;
constexpr axis<"many", 65536> many;
constexpr axis<"one", 1> one;
constexpr axis<"single", 1> single;
constexpr axis<"alone", 1> alone;
constexpr axis<"three", 3> three;
constexpr alias<"too", many> too;

constexpr auto both_zeros =
    kernel<"both_zeros">([](in<"X", seq> X) -> outs<out<"above", seq>, out<"below", seq>> {
      return {1 / (X * 0.0), 1 / (X * -0.0)};
    });

constexpr auto sizes_in_types = kernel<"sizes_in_types">([
](in<"X", seq> X) -> outs<out<"rounded", seq>, out<"around", i32, seq>> {
  return {X * cast<f32>(cast<bf16>(size(odd))), cast<i32>(X) + size(many) * size(too) + size(many)};
});

constexpr auto quotients = kernel<"quotients">(
    [](in<"n", i32, seq> n, in<"X", seq> X)
        -> outs<out<"chunk", i32, seq>, out<"of_64", i32, seq>, out<"later", b8, seq>,
                out<"any", b8>, out<"part", seq>, out<"half", i32, seq>> {
      return {cast<i32>((cast<f32>(n) + 3) / 41),
              cast<i32>(n / 64),
              (n + 1.0) / 47 >= 1,
              max<seq>(X / 55) >= 1,
              X / 41,
              cast<i32>(X / 20.5)};
    });

// Moved out of the sum over an empty seq, the infinite minimum would make NaN of its 0.
constexpr auto least_of_none = kernel<"least_of_none">(
    [](in<"W", seq, one> W, in<"X", one, seq, three> X) -> out<"O", three, one> {
      auto least = min<seq>(rename<one, single>(W));
      return dot<seq>(dot<single>(rename<one, single>(X), least), W);
    });

// The same holds for the logarithm of 0 and the root of a negative number.
constexpr auto logarithm_of_none = kernel<"logarithm_of_none">(
    [](in<"W", seq, one> W, in<"Y", one, seq, alone> Y) -> out<"O", alone, one> {
      auto infinite = log1p(sum<seq>(rename<one, single>(W)) - 1);
      return dot<seq>(dot<single>(rename<one, single>(Y), infinite), W);
    });
constexpr auto root_of_none = kernel<"root_of_none">(
    [](in<"W", seq, one> W, in<"Y", one, seq, alone> Y) -> out<"O", alone, one> {
      auto not_a_number = sqrt(sum<seq>(rename<one, single>(W)) - 1);
      return dot<seq>(dot<single>(rename<one, single>(Y), not_a_number), W);
    });

constexpr auto logarithms = kernel<"logarithms">(
    [](in<"X", seq> X) -> outs<out<"plus", seq>, out<"log", seq>, out<"other", seq>> {
      return {log(1 + exp(X)), log(sigmoid(X)), log(2 + exp(X))};
    });

// Softmax by hand, in the ways in which it is written.
constexpr axis<"keys"> keys;
constexpr auto by_hand = kernel<"by_hand">(
    [](in<"A", seq, one> A, in<"B", keys, one> B, in<"V", keys, three> V, in<"keep", b8, keys> keep,
       in<"sink", seq> sink) -> outs<out<"sums", seq, three>, out<"weights", seq, three>,
                                     out<"not_0", seq, three>, out<"with_sink", seq, three>> {
      auto s = mask(dot<one>(A, B), keep);
      auto e = exp(s - max<keys>(s));
      auto l = sum<keys>(e);
      auto m = max(max<keys>(s), sink);
      auto p = exp(s - m);
      return {dot<keys>(e, V) / l, dot<keys>(e / l, V), dot<keys>(e, V) / (l + 1e-9),
              dot<keys>(p, V) / (sum<keys>(p) + exp(sink - m))};
    });

// The same without a mask.
constexpr auto all_by_hand = kernel<"all_by_hand">(
    [](in<"A", seq, one> A, in<"B", keys, one> B, in<"V", keys, three> V)
        -> outs<out<"sums", seq, three>, out<"weights", seq, three>, out<"not_0", seq, three>> {
      auto s = dot<one>(A, B);
      auto e = exp(s - max<keys>(s));
      auto l = sum<keys>(e);
      return {dot<keys>(e, V) / l, dot<keys>(e / l, V), dot<keys>(e, V) / (l + 1e-9)};
    });

// Quotients that are absent where a key is hidden, whatever divides.
constexpr auto divided_by_hand = kernel<"divided_by_hand">(
    [](in<"A", seq, one> A, in<"B", keys, one> B, in<"V", keys, three> V, in<"keep", b8, keys> keep,
       in<"n", keys> n) -> outs<out<"by_key", seq, three>, out<"from_lowest", seq, three>,
                                out<"both", seq, three>> {
      auto s = mask(dot<one>(A, B), keep);
      auto e = exp(s - max<keys>(s));
      auto low = exp(s - max(max<keys>(s), -1e30));
      auto s2 = mask(2 * dot<one>(A, B), keep);
      auto m = max(max<keys>(s), max<keys>(s2));
      auto p = exp(s - m);
      auto p2 = exp(s2 - m);
      auto l = sum<keys>(p) + sum<keys>(p2);
      return {dot<keys>(e / n, V) / let<"total">(sum<keys>(e)), dot<keys>(low / sum<keys>(low), V),
              dot<keys>(p / l, V) + dot<keys>(p2 / l, V)};
    });

template <class Kernel>
arrays simplified_meaning(const Kernel &kernel, const arrays &arguments) {
  return codegen::interpret(codegen::simplified(codegen::make_program(kernel)), arguments);
}

}  // namespace

TEST_CASE("rewrites: constants that differ in the sign of zero are two constants") {
  const arrays a = {{"X", {{2}, {2, -1}}}};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (arrays r : {meaning(both_zeros, a), simplified_meaning(both_zeros, a)}) {
    CHECK(r["above"].data == std::vector<double>{infinity, -infinity});
    CHECK(r["below"].data == std::vector<double>{-infinity, infinity});
  }
}

TEST_CASE("rewrites: a folded constant is rounded, or wraps around, as its step would") {
  const arrays a = {{"X", {{2}, {1, -3}}}};
  for (arrays r : {meaning(sizes_in_types, a), simplified_meaning(sizes_in_types, a)}) {
    CHECK(r["rounded"].data == std::vector<double>{256, -768});
    CHECK(r["around"].data == std::vector<double>{65537, 65533});
  }
}

TEST_CASE("rewrites: a quotient that decides something is divided, others are multiplied") {
  const codegen::program p = codegen::simplified(codegen::make_program(quotients));
  const auto numbers_of = [&](core::op kind) {
    std::vector<double> numbers;
    for (const codegen::node &n : p.nodes)
      if (n.kind == kind) numbers.push_back(p[codegen::unbroadcast(p, n.in[1])].value);
    return numbers;
  };
  CHECK(numbers_of(core::op::div) == std::vector<double>{41, 47, 55, 20.5});
  CHECK(numbers_of(core::op::mul) == std::vector<double>{1.0 / 64, 1.0 / 41});
  const arrays a = {{"n", {{2}, {38, 46}}}, {"X", {{2}, {41, 55}}}};
  for (arrays r : {meaning(quotients, a), simplified_meaning(quotients, a)}) {
    CHECK(r["chunk"].data == std::vector<double>{1, 1});
    CHECK(r["later"].data == std::vector<double>{0, 1});
    CHECK(r["any"].data == std::vector<double>{1});
    CHECK(r["half"].data == std::vector<double>{2, 2});
  }
}

TEST_CASE("rewrites: logarithms of 1 + exp(x) and of sigmoid(x) are exact far from 0") {
  const codegen::program p = codegen::simplified(codegen::make_program(logarithms));
  const auto count = [&](core::op kind) {
    return std::count_if(p.nodes.begin(), p.nodes.end(),
                         [&](const codegen::node &n) { return n.kind == kind; });
  };
  CHECK(count(core::op::softplus) == 2);
  CHECK(count(core::op::log) == 1);
  arrays r = simplified_meaning(logarithms, {{"X", {{3}, {-2000, 0, 2000}}}});
  CHECK(r["plus"].data == std::vector<double>{0, std::log(2.0), 2000});
  CHECK(r["log"].data == std::vector<double>{-2000, -std::log(2.0), 0});
  CHECK(r["other"].data[0] == std::log(2.0));
}

namespace {

template <class Kernel>
void check_same(const Kernel &kernel, const arrays &a) {
  arrays written = meaning(kernel, a), streamed = simplified_meaning(kernel, a);
  for (const auto &[result, values] : written)
    for (std::size_t k = 0; k < values.data.size(); ++k) {
      INFO(result << " " << k);
      const double x = values.data[k], y = streamed[result].data[k];
      CHECK((std::isnan(x) ? std::isnan(y) : std::abs(x - y) < 1e-6));
    }
}

}  // namespace

TEST_CASE("rewrites: softmax by hand keeps NaN, infinities and rows without keys") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> rows = {0.5, -2, 700, infinity, std::nan(""), -infinity};
  const codegen::array B = {{3, 1}, {1, 2, 0.5}}, V = {{3, 3}, {1, 2, 3, 4, 5, 6, -1, -2, 9}};
  check_same(all_by_hand, {{"A", {{6, 1}, rows}}, {"B", B}, {"V", V}});
  // rows of -inf behind a mask are those that close_softmax.cpp names
  const arrays masked = {
      {"A", {{5, 1}, {0.5, -2, 700, infinity, std::nan("")}}}, {"B", B}, {"V", V}};
  for (const std::vector<double> &keep : {std::vector<double>{1, 1, 1}, {1, 0, 1}, {0, 0, 0}}) {
    INFO("of keys shown " << keep[0] + keep[1] + keep[2]);
    arrays a = masked;
    a["keep"] = {{3}, keep};
    a["sink"] = {{5}, {0, 1, -3, 2, 0.5}};
    check_same(by_hand, a);
    a.erase("sink");
    a["A"] = {{3, 1}, {0.5, -2, 40}};
    a["n"] = {{3}, {2, keep[1], 1}};
    check_same(divided_by_hand, a);
  }
}

TEST_CASE("rewrites: a sum over an empty axis stays 0") {
  const arrays none = {{"W", {{0, 1}, {}}}, {"X", {{1, 0, 3}, {}}}};
  for (arrays r : {meaning(least_of_none, none), simplified_meaning(least_of_none, none)})
    CHECK(r["O"].data == std::vector<double>{0, 0, 0});
  const arrays alone_of_none = {{"W", {{0, 1}, {}}}, {"Y", {{1, 0, 1}, {}}}};
  CHECK(simplified_meaning(logarithm_of_none, alone_of_none)["O"].data == std::vector<double>{0});
  CHECK(simplified_meaning(root_of_none, alone_of_none)["O"].data == std::vector<double>{0});
}

}  // namespace qkv::testing
