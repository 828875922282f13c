// SPDX-License-Identifier: BSL-1.0
// Attention over parts of the keys and its backward: wrong formulas, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr batch_axis<"shards"> shards;

// The slips of F(O_a, O_b, lse_a, lse_b), the results and logarithms of two parts.
template <auto F>
std::string of_parts() {
  return slips_in(kernel<"k">(
      [](in<"O_a", seq, e4> O_a, in<"O_b", seq, e4> O_b, in<"lse_a", seq> lse_a,
         in<"lse_b", seq> lse_b) -> out<"O", seq, e4> { return F(O_a, O_b, lse_a, lse_b); }));
}

// The slips of F(P, dP, O, dO), the second factor of the gradient of scores.
template <auto F>
std::string of_backward() {
  return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                 in<"O", seq, e4> O, in<"dO", seq, e4> dO) -> out<"dQ", seq, d8> {
    auto P = plain(softmax<kv>(dot<d8>(Q, K) / sqrt(d8)));
    return dot<kv>(P * F(P, dot<e4>(dO, V), O, dO), K) / sqrt(size(d8));
  }));
}

}  // namespace

TEST_CASE("logarithms of sums become shares by a softmax") {
  const auto merged = [](auto share) {
    return slips_in(kernel<"k">(
        [](in<"parts", shards, seq, e4> parts, in<"lse", shards, seq> lse) -> out<"O", seq, e4> {
          return sum<shards>(decltype(share){}(lse)*parts);
        }));
  };
  CHECK(mentions(merged([](auto lse) { return lse / sum<shards>(lse); }),
                 "did you mean softmax<shards>(lse)?"));
  CHECK(merged([](auto lse) { return softmax<shards>(lse); }) == "");
}

TEST_CASE("each part has the share of its own keys") {
  CHECK(mentions(of_parts<[](auto O_a, auto O_b, auto lse_a, auto lse_b) {
                   auto share = sigmoid(lse_b - lse_a);
                   return share * O_a + (1 - share) * O_b;
                 }>(),
                 "did you mean sigmoid(lse_a - lse_b)?"));
  CHECK(of_parts<[](auto O_a, auto O_b, auto lse_a, auto lse_b) {
          auto share = sigmoid(lse_a - lse_b);
          return share * O_a + (1 - share) * O_b;
        }>() == "");
  CHECK(mentions(of_parts<[](auto O_a, auto O_b, auto lse_a, auto lse_b) {
                   auto b = exp(lse_b - max(lse_a, lse_b));
                   return (lse_a * O_a + b * O_b) / (lse_a + b);
                 }>(),
                 "weighs O_a by a logarithm of a sum"));
}

TEST_CASE("parts are shifted down by the larger maximum") {
  const auto turned = of_parts<[](auto O_a, auto O_b, auto lse_a, auto lse_b) {
    auto top = max(lse_a, lse_b);
    auto a = exp(top - lse_a), b = exp(lse_b - top);
    return (O_a * a + O_b * b) / (a + b);
  }>();
  CHECK(mentions(turned, "did you mean lse_a - max(lse_a, lse_b)?"));
  CHECK(of_parts<[](auto O_a, auto O_b, auto lse_a, auto lse_b) {
          auto top = max(lse_a, lse_b);
          auto a = exp(lse_a - top), b = exp(lse_b - top);
          return (O_a * a + O_b * b) / (a + b);
        }>() == "");
  // a divisor may be at least 1
  CHECK(of_parts<[](auto O_a, auto O_b, auto lse_a, auto lse_b) {
          auto all = max(lse_a, lse_b) + softplus(-abs(lse_a - lse_b));
          return O_a / exp(all - lse_a) + O_b / exp(all - lse_b);
        }>() == "");
  const auto joined = [](auto shift) {
    return slips_in(kernel<"k">([](in<"a", seq> a, in<"b", seq> b) -> out<"lse", seq> {
      auto top = max(a, b);
      auto by = decltype(shift){}(top);
      return top + log(exp(a - by) + exp(b - by));
    }));
  };
  CHECK(joined([](auto top) { return top; }) == "");
  CHECK(mentions(slips_in(kernel<"k">([](in<"a", seq> a, in<"b", seq> b) -> out<"lse", seq> {
                   return max(a, b) + log(exp(a) + exp(b));
                 })),
                 "did you mean exp(a - max(a, b))?"));
}

TEST_CASE("scores are less the logarithm of their sum") {
  const auto weighed = [](auto shifted) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   in<"lse", seq> lse) -> out<"O", seq, e4> {
      return dot<kv>(exp(decltype(shifted){}(dot<d8>(Q, K) / sqrt(d8), lse)), V);
    }));
  };
  CHECK(mentions(weighed([](auto s, auto lse) { return s + lse; }), "did you mean dot(Q, K)"));
  CHECK(weighed([](auto s, auto lse) { return s - lse; }) == "");
}

TEST_CASE("the gradient of softmax subtracts a weighted sum") {
  CHECK(mentions(of_backward<[](auto, auto dP, auto, auto) { return dP - sum<kv>(dP); }>(),
                 "in the place of a weighted sum"));
  CHECK(of_backward<[](auto P, auto dP, auto, auto) { return dP - sum<kv>(P * dP); }>() == "");
  CHECK(mentions(of_backward<[](auto, auto dP, auto O, auto dO) { return dP + sum<e4>(dO * O); }>(),
                 "did you mean a minus"));
  CHECK(of_backward<[](auto, auto dP, auto O, auto dO) { return dP - sum<e4>(dO * O); }>() == "");
}

TEST_CASE("the gradient of softmax subtracts a product with the gradient of the result") {
  CHECK(mentions(of_backward<[](auto, auto dP, auto O, auto) { return dP - sum<e4>(O * O); }>(),
                 "did you mean sum<e>(dO * O)"));
}

TEST_CASE("parts are weighed by their sums, not by their maxima") {
  const auto merged = [](auto share) {
    return slips_in(kernel<"k">(
        [](in<"q", d8> q, in<"K", shards, kv, d8> K, in<"V", shards, kv, e4> V) -> out<"O", e4> {
          auto scores = dot<d8>(q, K) / sqrt(d8);
          return dot<shards>(softmax<shards>(decltype(share){}(scores)),
                             dot<kv>(softmax<kv>(scores), V));
        }));
  };
  CHECK(mentions(merged([](auto s) { return max<kv>(s); }),
                 "weighs parts by their maxima; did you mean softmax<shards>(logsumexp<kv>("));
  CHECK(merged([](auto s) { return logsumexp<kv>(s); }) == "");
}

}  // namespace qkv::testing::slips
