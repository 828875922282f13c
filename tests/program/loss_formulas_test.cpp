// SPDX-License-Identifier: BSL-1.0
// Formulas of losses that are slips, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {

namespace {

constexpr axis<"user"> user;
constexpr axis<"item"> item;
constexpr axis<"vocab", 40> vocab;

template <auto Power>
std::string of_focal() {
  return slips_in(kernel<"k">([](in<"x", seq, d8> x, in<"y", seq, d8> y) -> out<"loss", seq, d8> {
    auto p = sigmoid(x);
    auto right = y * p + (1 - y) * (1 - p);
    return 0.25 * Power(right) * (softplus(x) - x * y);
  }));
}

template <auto Positive>
std::string of_correction() {
  return slips_in(kernel<"k">(
      [](in<"U", user, d8> U, in<"I", item, d8> I, in<"log_q", item> log_q) -> out<"loss"> {
        auto positive = sum<d8>(U * rename<item, user>(I));
        return mean<user>(logsumexp<item>(dot<d8>(U, I) - log_q) -
                          Positive(positive, rename<item, user>(log_q)));
      }));
}

template <auto Hard>
std::string of_labels() {
  return slips_in(
      kernel<"k">([](in<"s", seq, vocab> s, in<"ids", i32, seq> ids) -> out<"loss", seq> {
        return Hard(s, take<vocab>(s, ids));
      }));
}

}  // namespace

TEST_CASE("a focal loss weighs what is not sure") {
  CHECK(mentions(of_focal<[](auto p) { return pow(p, 2); }>(),
                 "weighs most what is sure already; did you mean the power of 1 less"));
  CHECK(of_focal<[](auto p) { return pow(1 - p, 2); }>() == "");
}

TEST_CASE("a correction has one sign in both terms") {
  CHECK(mentions(of_correction<[](auto x, auto q) { return x + q; }>(), "with opposite signs"));
  CHECK(of_correction<[](auto x, auto q) { return x - q; }>() == "");
}

TEST_CASE("labels that are smoothed scale one term alone") {
  CHECK(mentions(of_labels<[](auto s, auto own) { return logsumexp<vocab>(s) - own * 0.9; }>(),
                 "scales s by 0.9 in one term alone"));
  CHECK(of_labels<[](auto s, auto own) {
          return logsumexp<vocab>(s) - own * 0.9 - mean<vocab>(s) * 0.1;
        }>() == "");
}

TEST_CASE("a ratio is bounded around 1, and a union counts what is common once") {
  const auto of = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"a", seq> a, in<"b", seq> b, in<"w", seq> w,
                       in<"h", seq> h) -> out<"Y", seq> { return decltype(f){}(a, b, w, h); }));
  };
  CHECK(mentions(of([](auto a, auto b, auto w, auto) {
                   return min(exp(a - b) * w, min(max(exp(a - b), 0.2), 1.2) * w);
                 }),
                 "bounds a ratio by 0.2 and 1.2"));
  CHECK(of([](auto a, auto b, auto w, auto) {
          return min(exp(a - b) * w, min(max(exp(a - b), 0.8), 1.2) * w);
        }) == "");
  CHECK(mentions(
      of([](auto a, auto b, auto w, auto h) { return max(w, 0) * max(h, 0) / (a * a + b * b); }),
      "twice in the divisor"));
  CHECK(of([](auto a, auto b, auto w, auto h) {
          auto common = max(w, 0) * max(h, 0);
          return common / (a * a + b * b - common);
        }) == "");
}

TEST_CASE("a loss of log(1 - D) is minimised as it is") {
  CHECK(slips_in(kernel<"k">(
            [](in<"D", seq> D) -> out<"loss"> { return mean<seq>(log(1 - sigmoid(D))); })) == "");
}

}  // namespace qkv::testing::slips
