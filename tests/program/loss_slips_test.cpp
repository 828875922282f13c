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

TEST_CASE("labels of later tokens are hidden from attention") {
  const auto loss = [](auto keep) {
    return slips_in(kernel<"k">([](in<"ids", i32, seq> ids, param<"E", vocab, d8> E,
                                   param<"W", d8, vocab> W) -> out<"loss"> {
      auto x = take<vocab>(E, ids);
      auto k = rename<seq, kv>(x);
      auto scores = decltype(keep){}(dot<d8>(x, k) / sqrt(d8));
      auto logits = dot<d8>(x + dot<kv>(softmax<kv>(scores), k), W);
      auto next = take<seq>(ids, min(index(seq) + 1, size(seq) - 1));
      auto nll = logsumexp<vocab>(logits) - take<vocab>(logits, next);
      return mean<seq>(mask(nll, index(seq) < size(seq) - 1));
    }));
  };
  CHECK(mentions(loss([](auto s) { return s; }),
                 "the label at each position is a later token, which softmax<kv>("));
  CHECK(loss([](auto s) { return mask(s, causal<seq, kv>); }) == "");
}

TEST_CASE("draws accept and continue by the same distributions") {
  const auto draft = [](auto ratio) {
    return slips_in(kernel<"k">(
        [](in<"target", seq, vocab> target, in<"guess", seq, vocab> guess,
           in<"token", i32, seq> token) -> outs<out<"accept", seq>, out<"rest", seq, vocab>> {
          auto p = plain(softmax<vocab>(target));
          auto q = plain(softmax<vocab>(guess));
          auto of_p = take<vocab>(p, token);
          auto of_q = take<vocab>(q, token);
          return {min(1, decltype(ratio){}(of_p, of_q)), normalize<vocab>(relu(p - q))};
        }));
  };
  CHECK(mentions(draft([](auto p, auto q) { return q / p; }),
                 "but redraws where softmax<vocab>(target) exceeds"));
  CHECK(draft([](auto p, auto q) { return p / q; }) == "");
}

TEST_CASE("probabilities are mixed with probabilities") {
  const auto mixed = [](auto write) {
    return slips_in(
        kernel<"k">([](in<"S", seq, d8> S, in<"H", kv, d8> H, in<"ids", i32, kv> ids,
                       param<"W", d8, vocab> W, param<"w", d8> w) -> out<"P", seq, vocab> {
          auto g = sigmoid(dot<d8>(S, w));
          auto is_word = where(ids == index(vocab), 1.f, 0.f);
          auto copied = dot<kv>(softmax<kv>(dot<d8>(S, H) / sqrt(d8)), is_word);
          return g * decltype(write){}(dot<d8>(S, W)) + (1 - g) * copied;
        }));
  };
  CHECK(mentions(mixed([](auto logits) { return logits; }), "did you mean softmax of dot(S, W)?"));
  CHECK(mixed([](auto logits) { return plain(softmax<vocab>(logits)); }) == "");
}

TEST_CASE("experts are balanced by products of means") {
  const auto balance = [](auto shares) {
    return slips_in(kernel<"k">([](in<"s", seq, vocab> s, in<"ids", i32, seq> ids) -> out<"loss"> {
      auto p = plain(softmax<vocab>(s));
      auto chosen = where(ids == index(vocab), 1.f, 0.f);
      return sum<vocab>(decltype(shares){}(chosen, p)) * size(vocab);
    }));
  };
  CHECK(mentions(balance([](auto c, auto p) { return mean<seq>(c * p); }), "averages products of"));
  CHECK(balance([](auto c, auto p) { return mean<seq>(c) * mean<seq>(p); }) == "");
}

}  // namespace qkv::testing::slips
