// SPDX-License-Identifier: BSL-1.0
// Formulas of layers, features and recurrences: wrong ones, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"

namespace qkv::testing::slips {
namespace {

constexpr axis<"vocab", 40> vocab;
constexpr axis<"half", 4> half;
constexpr axis<"pool", 6> pool;

}  // namespace

TEST_CASE("a bias is added once, after the sum") {
  const auto summed = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"X", seq, pool, d8> X, param<"b", d8> b) -> out<"O", seq, d8> {
          return decltype(f){}(X, b);
        }));
  };
  CHECK(mentions(summed([](auto X, auto b) { return sum<pool>(X + b); }),
                 "adds b once for each position of pool; did you mean sum<pool>(X) + b?"));
  CHECK(summed([](auto X, auto b) { return sum<pool>(X) + b; }) == "");
}

TEST_CASE("a norm is undone in the order of its inverse") {
  const auto undone = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"X", seq, d8> X, param<"W", seq, half> W) -> out<"Y", half, d8> {
          auto mu = mean<seq>(X);
          auto sd = sqrt(mean<seq>((X - mu) * (X - mu)) + 1e-5f);
          return decltype(f){}(dot<seq>((X - mu) / sd, W), mu, sd);
        }));
  };
  CHECK(mentions(undone([](auto y, auto mu, auto sd) { return (y + mu) * sd; }),
                 "but mean<seq>(X) was subtracted before the division"));
  CHECK(mentions(undone([](auto y, auto mu, auto sd) { return y / sd + mu; }),
                 "again, where x - mean<seq>(X) was divided by it"));
  CHECK(undone([](auto y, auto mu, auto sd) { return y * sd + mu; }) == "");
}

TEST_CASE("places are counted along tokens, not along what each of them chooses") {
  const auto fits = [](auto place) {
    return slips_in(
        kernel<"k">([](in<"X", seq, vocab> X, in<"ids", i32, seq> ids) -> out<"O", seq, vocab> {
          auto chosen = where(ids == index(vocab), 1.f, 0.f);
          return where(decltype(place){}(chosen) <= 16, X, 0);
        }));
  };
  CHECK(mentions(fits([](auto chosen) { return cumsum<vocab>(chosen); }),
                 "counts along vocab, of which one position at most is chosen"));
  CHECK(fits([](auto chosen) { return cumsum<seq>(chosen); }) == "");
}

TEST_CASE("random features have half of the square") {
  const auto features = [](auto norm) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   param<"W", half, d8> W) -> out<"O", seq, e4> {
      auto phi = [&](auto x) {
        auto y = x * 0.5f;
        return exp(dot<d8>(y, W) - decltype(norm){}(sum<d8>(y * y)));
      };
      return linear_attention<half, kv>(phi(Q), phi(K), V);
    }));
  };
  const std::string whole = features([](auto square) { return square; });
  CHECK(whole.find("subtracts a whole square where the features of exp(q' k) have half of it") !=
        std::string::npos);  // of Q, and of K
  CHECK(features([](auto square) { return square / 2; }) == "");
}

TEST_CASE("what a state keeps and what is added have one variance") {
  const auto state = [](auto added) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"G", seq, d8> G) -> out<"Y", seq, d8> {
      auto a = sigmoid(G);
      return scan<seq>(
                 zeros<d8>(), [](auto s, auto a, auto u) { return a * s + u; }, a,
                 sqrt(1 - decltype(added){}(a)) * X)
          .result;
    }));
  };
  CHECK(mentions(state([](auto a) { return a; }), "did you mean 1 less the square in the root"));
  CHECK(state([](auto a) { return a * a; }) == "");
}

}  // namespace qkv::testing::slips
