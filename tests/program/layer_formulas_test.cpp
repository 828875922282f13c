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

template <auto Layer>
std::string of_layer() {
  return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"gate", d8> gate, param<"G", d8, half> W,
                                 param<"U", d8, half> U, param<"W2", half, d8> W2,
                                 param<"gain", d8> gain) -> out<"Y", seq, d8> {
    return Layer(
        X, gate, [&](auto x) { return dot<d8>(x, W); }, [&](auto x) { return dot<d8>(x, U); },
        [&](auto x) { return dot<half>(x, W2); }, gain);
  }));
}

TEST_CASE("one of two projections is a gate") {
  CHECK(mentions(of_layer<[](auto x, auto g, auto w, auto u, auto down, auto n) {
                   return x * g * n + down(sigmoid(w(x)) * sigmoid(u(x)));
                 }>(),
                 "is a product of two gates"));
  CHECK(of_layer<[](auto x, auto g, auto w, auto u, auto down, auto n) {
          return x * g * n + down(silu(w(x)) * u(x));
        }>() == "");
}

TEST_CASE("a gate is of the layer, not of what goes past it") {
  CHECK(mentions(of_layer<[](auto x, auto g, auto w, auto u, auto down, auto n) {
                   return g * (x + down(gelu(w(x * n) + u(x * n))));
                 }>(),
                 "multiplies X by a gate, too, which the layer goes past"));
  CHECK(of_layer<[](auto x, auto g, auto w, auto u, auto down, auto n) {
          return x + g * down(gelu(w(x * n) + u(x * n)));
        }>() == "");
}

TEST_CASE("lengths divide, and projections divide by their own square") {
  const auto of = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"Y", seq, d8> Y) -> out<"Z", seq, d8> {
      return decltype(f){}(X, Y);
    }));
  };
  const auto scores = [](auto f) {
    return of_attention<[](auto Q, auto K, auto V) {
      return dot<kv>(softmax<kv>(dot<d8>(unit_length<d8>(Q), decltype(f){}(K)) * 20), V);
    }>();
  };
  CHECK(mentions(scores([](auto x) { return x * sqrt(sum<d8>(x * x) + 1e-6f); }),
                 "multiplies K by its length"));
  CHECK(scores([](auto x) { return x * rsqrt(sum<d8>(x * x) + 1e-6f); }) == "");
  CHECK(of([](auto x, auto y) { return y - x * sqrt(sum<d8>(x * x) + 1e-6f); }) == "");
  // a capsule is squashed so
  CHECK(of([](auto x, auto y) {
          return y + x * sqrt(sum<d8>(x * x) + 1e-6f) / (1 + sum<d8>(x * x));
        }) == "");
  CHECK(mentions(of([](auto x, auto y) { return x * (sum<d8>(x * y) / sum<d8>(y * y)); }),
                 "projects Y onto X, but divides by the square of Y"));
  CHECK(of([](auto x, auto y) { return x * (sum<d8>(x * y) / sum<d8>(x * x)); }) == "");
  CHECK(mentions(of([](auto x, auto y) { return x / min(y, 0.01); }), "divides by at most 0.01"));
  CHECK(of([](auto x, auto y) { return x / max(y, 0.01); }) == "");
  CHECK(mentions(of([](auto x, auto y) { return y + max(log(x), 1e-10); }),
                 "is at least 1e-10, as if X were at least 1"));
  CHECK(of([](auto x, auto y) { return y + log(max(x, 1e-10)); }) == "");
}

TEST_CASE("a gain has the 1 inside, and a bias comes before softplus") {
  const auto of = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"g", d8> g, param<"W", d8, half> W,
                                   param<"b", half> b) -> out<"Y", seq, half> {
      return decltype(f){}(X * rsqrt(mean<d8>(X * X) + 1e-6f), g, W, b);
    }));
  };
  CHECK(mentions(of([](auto x, auto g, auto W, auto b) { return dot<d8>(x * g + 1, W) + b; }),
                 "adds 1 to what the gain g scales; did you mean 1 + g"));
  CHECK(of([](auto x, auto g, auto W, auto b) { return dot<d8>(x * (1 + g), W) + b; }) == "");
  CHECK(mentions(of([](auto x, auto g, auto W, auto b) { return softplus(dot<d8>(x * g, W)) + b; }),
                 "adds the bias b after softplus"));
  CHECK(of([](auto x, auto g, auto W, auto b) { return softplus(dot<d8>(x * g, W) + b); }) == "");
}

TEST_CASE("the bias of a choice is not a part of the gates") {
  const auto gates = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"W", d8, half> W,
                                   param<"bias", half> bias) -> out<"gates", seq, half> {
      auto affinity = sigmoid(dot<d8>(X, W));
      auto biased = affinity + bias;
      return normalize<half>(mask(decltype(f){}(affinity, biased), biased >= max<half>(biased)));
    }));
  };
  CHECK(mentions(gates([](auto, auto biased) { return biased; }),
                 "whose bias is for the choice alone"));
  CHECK(gates([](auto affinity, auto) { return affinity; }) == "");
}

TEST_CASE("a product of low rank is divided by its rank") {
  constexpr auto adapted = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"X", seq, d8> X, param<"W", d8, pool> W, param<"A", d8, half> A,
                       param<"B", half, pool> B) -> out<"Y", seq, pool> {
          return dot<d8>(X, W) + decltype(f){}(dot<half>(dot<d8>(X, A), B), cast<f32>(size(half)));
        }));
  };
  const std::string rank = "multiplies by the rank";
  CHECK(mentions(adapted([](auto low, auto r) { return low * (r / 32); }), rank));
  CHECK(mentions(adapted([](auto low, auto r) { return 16 * r * low; }), rank));
  CHECK(adapted([](auto low, auto r) { return low * (32 / r); }) == "");
  CHECK(adapted([](auto low, auto r) { return low * 2 / r; }) == "");
}

}  // namespace qkv::testing::slips
