// SPDX-License-Identifier: BSL-1.0
// Slips in losses, and their right neighbours.
#include <qkv/dsl.hpp>

#include <string>
#include <type_traits>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr batch_axis<"batch"> batch;
constexpr axis<"vocab", 40> vocab;
constexpr axis<"next"> next;

template <int First>
std::string of_language_model() {
  return slips_in(kernel<"k">(
      [](in<"tokens", i32, seq> tokens, param<"words", vocab, d8> words) -> out<"loss"> {
        auto X = take<vocab>(words, tokens);
        auto K = rename<seq, kv>(X);
        auto Y = X + scaled_dot_product<d8, kv>(X, K, K, causal<seq, kv>);
        auto logits = dot<d8>(slice<seq, next>(Y, 0), words);
        auto label = slice<seq, next>(tokens, First);
        return mean<next>(logsumexp<vocab>(logits) - take<vocab>(logits, label));
      }));
}

template <auto Of>
std::string of_distillation() {
  return slips_in(kernel<"k">(
      [](in<"teacher", batch, vocab> teacher, in<"student", batch, vocab> student) -> out<"loss"> {
        auto s = student / 2;
        auto t = Of(teacher);
        return mean<batch>(sum<vocab>(softmax<vocab>(t) * (logsumexp<vocab>(s) - s)));
      }));
}

template <auto Margins>
std::string of_preferences() {
  return slips_in(
      kernel<"k">([](in<"chosen", batch> chosen, in<"rejected", batch> rejected,
                     in<"reference_chosen", batch> reference_chosen,
                     in<"reference_rejected", batch> reference_rejected) -> out<"loss"> {
        auto margin = Margins(chosen, rejected, reference_chosen, reference_rejected);
        return mean<batch>(softplus(-0.1 * margin));
      }));
}

}  // namespace

TEST_CASE("a language model predicts tokens that it has not read") {
  CHECK(mentions(of_language_model<0>(), "is the token that the model reads there"));
  CHECK(of_language_model<1>() == "");
}

TEST_CASE("a temperature divides the scores of teacher and student") {
  CHECK(mentions(of_distillation<[](auto t) { return t; }>(), "did you mean to divide both?"));
  CHECK(of_distillation<[](auto t) { return t / 2; }>() == "");
}

TEST_CASE("margins of preferences have one order") {
  CHECK(mentions(of_preferences<[](auto a, auto b, auto c, auto d) { return (a - b) - (d - c); }>(),
                 "has its sides in another order than chosen - rejected"));
  CHECK(of_preferences<[](auto a, auto b, auto c, auto d) { return (a - b) - (c - d); }>() == "");
}

}  // namespace qkv::testing::slips
