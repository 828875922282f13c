// SPDX-License-Identifier: BSL-1.0
// Formulas that give something simpler than they seem to, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr axis<"words", 40> words;

// The slips of F(X[seq, d], Y[seq, d]).
template <auto F>
std::string of_two() {
  return slips_in(kernel<"k">(
      [](in<"X", seq, d8> X, in<"Y", seq, d8> Y) -> out<"Z", seq, d8> { return F(X, Y); }));
}
// The slips of attention whose weights are W(scores).
template <auto W>
std::string of_weights() {
  return of_attention<[](auto Q, auto K, auto V) {
    return dot<kv>(W(dot<d8>(Q, K) / sqrt(d8)), V);
  }>();
}

}  // namespace

TEST_CASE("a gate is one sigmoid") {
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y * sigmoid(sigmoid(X)); }>(),
                 "lies between 0.5 and 0.73"));
  CHECK(of_two<[](auto X, auto Y) { return Y * sigmoid(2 * sigmoid(X)); }>() == "");
}

TEST_CASE("a clamp has its ends in order") {
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y * min(max(X, 1.2f), 0.8f); }>(),
                 "is 0.8 at every position"));
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y * max(min(X, 0.8f), 1.2f); }>(),
                 "is 1.2 at every position"));
  CHECK(of_two<[](auto X, auto Y) { return Y * min(max(X, 0.8f), 1.2f); }>() == "");
}

TEST_CASE("a whole number is made of a quotient of more than a share") {
  CHECK(mentions(
      of_two<[](auto X, auto Y) { return Y * cast<f32>(cast<i32>(index(seq) / size(seq))) + X; }>(),
      "is 0 at every position"));
  CHECK(of_two<[](auto X, auto Y) {
          return Y * cast<f32>(cast<i32>(4 * index(seq) / size(seq))) + X;
        }>() == "");
}

TEST_CASE("weights grow with their scores, and scores fall with distances") {
  CHECK(mentions(of_weights<[](auto s) { return normalize<kv>(exp(max<kv>(s) - s)); }>(),
                 "the largest of"));
  CHECK(of_weights<[](auto s) { return normalize<kv>(exp(s - max<kv>(s))); }>() == "");
  const auto of_distances = []<class Sign>(Sign) {
    return of_attention<[](auto Q, auto K, auto V) {
      auto d = broadcast<kv>(Q) - broadcast<seq>(K);
      return dot<kv>(softmax<kv>(sum<d8>(d * d) * Sign::value), V);
    }>();
  };
  CHECK(mentions(of_distances(std::integral_constant<int, 2>()), "the farthest weighs most"));
  CHECK(of_distances(std::integral_constant<int, -2>()) == "");
}

TEST_CASE("a total has its maximum again, and a probability comes from a softmax") {
  const auto total = [](auto with_maximum) {
    return slips_in(kernel<"k">([](in<"S", seq, kv> S) -> out<"lse", seq> {
      auto m = max<kv>(S);
      auto l = log(sum<kv>(exp(S - m)));
      if constexpr (decltype(with_maximum)::value)
        return l + m;
      else
        return l;
    }));
  };
  CHECK(mentions(total(std::false_type()), "did you mean logsumexp<kv>(S)?"));
  CHECK(total(std::true_type()) == "");
  const auto loss = []<class P>(P) {
    return slips_in(kernel<"k">([](in<"H", seq, d8> H, param<"U", d8, words> U,
                                   in<"ids", i32, seq> ids) -> out<"loss", seq> {
      auto l = dot<d8>(H, U);
      if constexpr (P::value)
        return -log(take<words>(softmax<words>(l), ids));
      else
        return -log(take<words>(l, ids) + 1e-9f);
    }));
  };
  CHECK(mentions(loss(std::false_type()), "are logits, which may be negative"));
  CHECK(loss(std::true_type()) == "");
}

TEST_CASE("Gumbel noise is minus the logarithm of minus a logarithm") {
  const auto noisy = []<class Sign>(Sign) {
    return slips_in(kernel<"k">([](in<"S", seq, kv> S, in<"seed", i32> seed) -> out<"P", seq, kv> {
      auto noise = log(-log(uniform<seq, kv>(seed) + 1e-9f));
      if constexpr (Sign::value)
        return softmax<kv>(S + noise);
      else
        return softmax<kv>(S - noise);
    }));
  };
  CHECK(mentions(noisy(std::true_type()), "is Gumbel noise with the other sign"));
  CHECK(noisy(std::false_type()) == "");
}

TEST_CASE("nothing is above its maximum") {
  constexpr auto chosen = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X) -> out<"Y", seq, d8> {
      auto p = softmax<d8>(X);
      return where(decltype(f){}(p, max<d8>(p)), p, 0);
    }));
  };
  CHECK(
      mentions(chosen([](auto p, auto m) { return p <= m; }), "is always true; did you mean >=?"));
  CHECK(chosen([](auto p, auto m) { return p >= m; }) == "");
}

TEST_CASE("a condition twice is one condition") {
  const auto shown = [](auto both) {
    return slips_in(kernel<"k">(
        [](in<"s", seq, kv> s, in<"V", kv, e4> V, in<"image", b8, seq> image) -> out<"O", seq, e4> {
          return dot<kv>(softmax<kv>(mask(s, causal<seq, kv> || decltype(both){}(image))), V);
        }));
  };
  CHECK(mentions(shown([](auto image) { return image && image; }),
                 "is image itself; did you mean another condition, such as rename<..> of it?"));
  CHECK(shown([](auto image) { return image && rename<seq, kv>(image); }) == "");
}

}  // namespace qkv::testing::slips
