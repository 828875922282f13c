// SPDX-License-Identifier: BSL-1.0
// Formulas that are slips by the names of arguments, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {

namespace {

template <auto Guided>
std::string of_guidance() {
  return slips_in(
      kernel<"k">([](in<"eps_cond", seq, d8> c, in<"eps_uncond", seq, d8> u,
                     in<"guidance"> g) -> out<"eps", seq, d8> { return Guided(c, u, g); }));
}

template <auto Number>
std::string of_zero_point() {
  return slips_in(kernel<"k">([](in<"q", d8> q, in<"K", i32, kv, d8> K, in<"scale", kv> scale,
                                 in<"zero", i32, kv> zero, in<"V", kv, e4> V) -> out<"o", e4> {
    auto s = dot<d8>(q, Number(cast<f32>(K), scale, zero)) / sqrt(d8);
    return dot<kv>(softmax<kv>(s), V);
  }));
}

template <auto Merged>
std::string of_parts() {
  return slips_in(kernel<"k">([](in<"O1", seq, e4> O1, in<"lse1", seq> lse1, in<"O2", seq, e4> O2,
                                 in<"lse2", seq> lse2) -> out<"O", seq, e4> {
    auto m = max(lse1, lse2);
    return Merged(O1, O2, exp(lse1 - m), exp(lse2 - m));
  }));
}

}  // namespace

TEST_CASE("guidance steers towards the condition") {
  CHECK(mentions(of_guidance<[](auto c, auto u, auto g) { return c + g * (u - c); }>(),
                 "steers away from eps_cond; did you mean eps_uncond + guidance"));
  CHECK(of_guidance<[](auto c, auto u, auto g) { return u + g * (c - u); }>() == "");
}

TEST_CASE("a zero point is subtracted from the whole numbers") {
  CHECK(mentions(
      of_zero_point<[](auto k, auto scale, auto zero) { return k * scale - cast<f32>(zero); }>(),
      "takes zero off after the scale"));
  CHECK(of_zero_point<[](auto k, auto scale, auto zero) {
          return (k - cast<f32>(zero)) * scale;
        }>() == "");
}

TEST_CASE("the gate of two projections is activated alone") {
  const auto layer = [](auto hidden) {
    return slips_in(
        kernel<"k">([](in<"X", seq, d8> X, param<"Wg", d8, e4> Wg, param<"Wu", d8, e4> Wu,
                       param<"Wd", e4, d8> Wd) -> out<"Y", seq, d8> {
          return X + dot<e4>(decltype(hidden){}(dot<d8>(X, Wg), dot<d8>(X, Wu)), Wd);
        }));
  };
  CHECK(mentions(layer([](auto g, auto u) { return silu(g * u); }),
                 "activates the product with Wg and Wu"));
  CHECK(layer([](auto g, auto u) { return silu(g) * u; }) == "");
}

TEST_CASE("each part is weighed by its own total") {
  CHECK(
      mentions(of_parts<[](auto a, auto b, auto v, auto w) { return (a * w + b * v) / (v + w); }>(),
               "weighs O1 by the exponential of the other part"));
  CHECK(of_parts<[](auto a, auto b, auto v, auto w) { return (a * v + b * w) / (v + w); }>() == "");
}

TEST_CASE("an end leaves out the value that comes after it") {
  const auto delta = [](auto f) {
    return slips_in(kernel<"k">([](in<"reward", seq> reward, in<"value", seq> value,
                                   in<"next_value", seq> next_value,
                                   in<"done", seq> done) -> out<"delta", seq> {
      return decltype(f){}(reward, value, next_value, done);
    }));
  };
  CHECK(mentions(
      delta([](auto r, auto v, auto next, auto done) { return r + 0.99 * next - v * (1 - done); }),
      "leaves out value at an end, not next_value"));
  CHECK(delta([](auto r, auto v, auto next, auto done) {
          return r + 0.99 * next * (1 - done) - v;
        }) == "");
}

}  // namespace qkv::testing::slips
