// SPDX-License-Identifier: BSL-1.0
// Formulas that differ from a well-known one in a sign, a factor or an axis, and right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr axis<"vocab", 40> vocab;
constexpr axis<"half", 4> half;
constexpr axis<"two", 2> two;
constexpr axis<"pool"> pool;
constexpr axis<"pages"> pages;
constexpr axis<"in_page", 8> in_page;

// The slips of F(X[seq, d], Y[seq, d]).
template <auto F>
std::string of_two() {
  return slips_in(kernel<"k">(
      [](in<"X", seq, d8> X, in<"Y", seq, d8> Y) -> out<"Z", seq, d8> { return F(X, Y); }));
}
// The slips of a loss, F(logits[seq, vocab], target[seq, vocab], ids[seq]).
template <auto F>
std::string of_loss() {
  return slips_in(
      kernel<"k">([](in<"s", seq, vocab> s, in<"t", seq, vocab> t,
                     in<"ids", i32, seq> ids) -> out<"value", seq> { return F(s, t, ids); }));
}
template <auto F>
std::string of_gate() {
  return of_two<[](auto X, auto Y) {
    return scan<seq>(zeros<d8>(), [](auto s, auto x, auto y) { return F(s, x, y); }, X, Y).result;
  }>();
}

constexpr auto log_of = [](auto s) { return s - logsumexp<vocab>(s); };

}  // namespace

TEST_CASE("the logarithm of an exponential is its argument") {
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y * log(exp(X)); }>(),
                 "is X itself; did you mean 1 + exp(X)?"));
  CHECK(of_two<[](auto X, auto Y) { return Y * log(1 + exp(X)); }>() == "");
  CHECK(of_two<[](auto X, auto Y) { return Y * log(let<"e">(exp(X))); }>() == "");
}

TEST_CASE("two shares have factors of their own") {
  CHECK(mentions(of_two<[](auto X, auto Y) {
                   auto l = log(sigmoid(X));
                   return Y * l + (1 - Y) * l;
                 }>(),
                 "since both shares of it are added"));
  CHECK(of_two<[](auto X, auto Y) { return Y * log(sigmoid(X)) + (1 - Y) * log(sigmoid(-X)); }>() ==
        "");
}

TEST_CASE("a root mean square has the mean of squares") {
  CHECK(mentions(of_two<[](auto X, auto Y) {
                   auto m = mean<d8>(X);
                   return Y + X * rsqrt(m * m + 1e-6f);
                 }>(),
                 "did you mean mean<d>(X * X)?"));
  CHECK(of_two<[](auto X, auto Y) { return Y + X * rsqrt(mean<d8>(X * X) + 1e-6f); }>() == "");
}

TEST_CASE("a gate and its rest add up to 1") {
  CHECK(mentions(of_gate<[](auto s, auto x, auto y) {
                   auto z = sigmoid(x);
                   return z * s + z * tanh(y);
                 }>(),
                 "on both terms; did you mean 1 - sigmoid("));
  CHECK(of_gate<[](auto s, auto x, auto y) {
          auto z = sigmoid(x);
          return z * s + (1 - z) * tanh(y);
        }>() == "");
  CHECK(mentions(of_gate<[](auto s, auto x, auto y) {
                   auto z = sigmoid(x);
                   auto r = sigmoid(y);
                   return (1 - z) * s + r * tanh(y + r * s);
                 }>(),
                 "did you mean sigmoid(X) in place of sigmoid(Y)?"));
  CHECK(of_gate<[](auto s, auto x, auto y) {
          auto z = sigmoid(x);
          return (1 - z) * s + z * tanh(y + sigmoid(y) * s);
        }>() == "");
  CHECK(of_gate<[](auto s, auto x, auto y) {  // erases and writes
          return (1 - sigmoid(x)) * s + sigmoid(y) * x;
        }>() == "");
}

TEST_CASE("one of two projections is activated") {
  constexpr auto ffn = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"X", seq, d8> X, param<"W1", d8, e4> W1, param<"W3", d8, e4> W3,
                       param<"W2", e4, d8> W2) -> out<"Z", seq, d8> {
          return X + dot<e4>(decltype(f){}(dot<d8>(X, W1), dot<d8>(X, W3)), W2);
        }));
  };
  CHECK(
      mentions(ffn([](auto a, auto b) { return silu(a) * silu(b); }), "activates both dot(X, W1)"));
  CHECK(mentions(ffn([](auto a, auto b) { return gelu(a) * a + 0.5f * b; }), "by itself"));
  CHECK(ffn([](auto a, auto b) { return silu(a) * b; }) == "");
  CHECK(ffn([](auto a, auto b) { return relu(a) * a + 0.5f * b; }) == "");
}

TEST_CASE("half of a step added to itself is the step") {
  CHECK(mentions(of_two<[](auto X, auto Y) {
                   auto a = exp(X), b = exp(X);
                   return (a + b) / 2 * Y;
                 }>(),
                 "is exp(X) itself"));
  CHECK(of_two<[](auto X, auto Y) { return (exp(X) + exp(Y)) / 2; }>() == "");
}

TEST_CASE("two branches are two steps") {
  CHECK(
      mentions(of_two<[](auto X, auto Y) { return Y * where(index(seq) == 0, sin(X), sin(X)); }>(),
               "is sin(X) in both branches"));
  CHECK(of_two<[](auto X, auto Y) { return Y * where(index(seq) == 0, sin(X), cos(X)); }>() == "");
}

TEST_CASE("what is divided by a deviation is centred over the same axes") {
  CHECK(mentions(of_two<[](auto X, auto Y) {
                   auto c = X - mean<d8>(X);
                   return Y + X * rsqrt(mean<d8>(c * c) + 1e-5f);
                 }>(),
                 "without centring it; did you mean (X - mean<d>(X)) in place of X?"));
  CHECK(mentions(of_two<[](auto X, auto Y) {
                   auto c = X - mean<d8>(X);
                   return Y + c * rsqrt(mean<seq, d8>(c * c) + 1e-5f);
                 }>(),
                 "did you mean d in both?"));
  CHECK(of_two<[](auto X, auto Y) {
          auto c = X - mean<d8>(X);
          return Y + c * rsqrt(mean<d8>(c * c) + 1e-5f);
        }>() == "");
}

TEST_CASE("a root mean square is that of the step itself") {
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y * rsqrt(mean<d8>(X * X) + 1e-6f); }>(),
                 "divides Y by the root mean square of X"));
  CHECK(of_two<[](auto X, auto Y) {  // a gate beside the norm
          return X * (silu(Y) * rsqrt(mean<d8>(X * X) + 1e-6f));
        }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + X * (rsqrt(mean<d8>(X * X)) + 1e-6f); }>(),
                 "did you mean rsqrt(mean<d>(X * X) + 1e-06)?"));
  CHECK(
      mentions(of_two<[](auto X, auto Y) { return Y + X * rsqrt(pow(mean<d8>(X), 2) + 1e-6f); }>(),
               "did you mean mean<d>(X * X)?"));
}

TEST_CASE("a small number keeps a divisor from 0") {
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y * (relu(X) / sum<d8>(relu(X)) + 1e-6f); }>(),
                 "to the quotient; did you mean / (sum<d>(relu(X)) + 1e-06)?"));
  CHECK(of_two<[](auto X, auto Y) { return Y * (relu(X) / (sum<d8>(relu(X)) + 1e-6f)); }>() == "");
  CHECK(of_two<[](auto X, auto Y) { return Y * log(exp(X) / sum<d8>(exp(X)) + 1e-9f); }>().find(
            "quotient;") == std::string::npos);
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + X / min(sqrt(sum<d8>(X * X)), 1e-6f); }>(),
                 "did you mean max("));
  CHECK(of_two<[](auto X, auto Y) { return Y + X / max(sqrt(sum<d8>(X * X)), 1e-6f); }>() == "");
}

TEST_CASE("a mean counts what it adds up") {
  constexpr auto pooled = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"length", i32> length) -> out<"y", d8> {
      return decltype(f){}(X, length);
    }));
  };
  CHECK(mentions(pooled([](auto X, auto n) { return sum<seq>(X) / n; }),
                 "did you mean sum<seq>(mask(X, index(seq) < length))?"));
  CHECK(pooled([](auto X, auto n) { return sum<seq>(mask(X, index(seq) < n)) / n; }) == "");
}

TEST_CASE("weights are hidden before softmax, and scores are not weights") {
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto w = softmax<kv>(dot<d8>(Q, K) / sqrt(d8));
                   return dot<kv>(where(index(kv) <= index(seq), w, 0), V);
                 }>(),
                 "so that they do not add up to 1"));
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   return dot<kv>(softmax<kv>(-dot<d8>(Q, K) / sqrt(d8)), V);
                 }>(),
                 "the least of dot(Q, K) weighs most"));
  CHECK(mentions(
      slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K,
                              in<"V", kv, e4> V) -> outs<out<"O", seq, e4>, out<"load", kv>> {
        auto s = dot<d8>(Q, K);
        return {dot<kv>(s, V), mean<seq>(softmax<kv>(s))};
      })),
      "did you mean softmax<kv>(dot(Q, K))?"));
}

TEST_CASE("dropout divides by the share that it keeps, once") {
  constexpr auto dropped = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"seed", i32> seed) -> out<"Y", seq, d8> {
      return decltype(f){}(X, uniform<seq, d8>(seed), seed);
    }));
  };
  CHECK(mentions(dropped([](auto X, auto u, auto) { return X * cast<f32>(u >= 0.1); }),
                 "did you mean dropout<0.1>(X, seed)?"));
  CHECK(mentions(dropped([](auto X, auto u, auto) { return where(u < 0.1, 0, X); }),
                 "without dividing it"));
  CHECK(mentions(dropped([](auto X, auto u, auto) { return X * cast<f32>(u < 0.1) / 0.9; }),
                 "did you exchange < and >=?"));
  CHECK(mentions(dropped([](auto X, auto, auto seed) { return dropout<0.1>(X, seed) / 0.9; }),
                 "as dropout does"));
  CHECK(dropped([](auto X, auto u, auto) { return X * cast<f32>(u >= 0.1) / 0.9; }) == "");
  CHECK(dropped([](auto X, auto, auto seed) { return dropout<0.1>(X, seed); }) == "");
}

TEST_CASE("a divergence is never negative") {
  CHECK(mentions(of_loss<[](auto s, auto t, auto) {
                   auto p = log_of(t);
                   return sum<vocab>(exp(p) * (log_of(s) - p));
                 }>(),
                 "did you exchange the logarithms?"));
  CHECK(of_loss<[](auto s, auto t, auto) {
          auto p = log_of(t);
          return sum<vocab>(exp(p) * (p - log_of(s)));
        }>() == "");
  CHECK(of_loss<[](auto s, auto t, auto) {
          auto p = log_of(t);
          return -sum<vocab>(exp(p) * (log_of(s) - p));
        }>() == "");
  CHECK(mentions(of_loss<[](auto s, auto t, auto) {
                   auto p = softmax<vocab>(t);
                   return sum<vocab>(p * (log(p) - softmax<vocab>(s)));
                 }>(),
                 "did you mean log(softmax<vocab>(s))?"));
}

TEST_CASE("a distillation has one temperature") {
  CHECK(mentions(of_loss<[](auto s, auto t, auto) {
                   return sum<vocab>(softmax<vocab>(t / 4) * (log_of(t) - log_of(s / 4)));
                 }>(),
                 "of two temperatures"));
  CHECK(of_loss<[](auto s, auto t, auto) {
          return sum<vocab>(softmax<vocab>(t / 4) * (log_of(t / 4) - log_of(s / 4)));
        }>() == "");
  CHECK(mentions(of_loss<[](auto s, auto t, auto) {
                   return (logsumexp<vocab>(s) - sum<vocab>(softmax<vocab>(t / 4) * s)) * 16;
                 }>(),
                 "did you mean s / 4 in both terms?"));
}

TEST_CASE("log probabilities are taken along the axis that they add up over") {
  CHECK(mentions(
      of_loss<[](auto s, auto, auto ids) { return -take<vocab>(s - logsumexp<seq>(s), ids); }>(),
      "takes along vocab what is normalised over seq"));
  CHECK(of_loss<[](auto s, auto, auto ids) { return -take<vocab>(log_of(s), ids); }>() == "");
}

TEST_CASE("smoothed labels have the mean of all logarithms") {
  CHECK(mentions(of_loss<[](auto s, auto, auto ids) {
                   auto l = log_of(s);
                   return -0.9f * take<vocab>(l, ids) - 0.1f * sum<vocab>(l);
                 }>(),
                 "did you mean mean<vocab>("));
  CHECK(of_loss<[](auto s, auto, auto ids) {
          auto l = log_of(s);
          return -0.9f * take<vocab>(l, ids) - 0.1f * mean<vocab>(l);
        }>() == "");
}

TEST_CASE("the logarithm is that of the prediction") {
  CHECK(mentions(of_loss<[](auto s, auto, auto ids) {
                   auto hot = where(index(vocab) == broadcast<vocab>(ids), 1, 0);
                   return -sum<vocab>(softmax<vocab>(s) * log(hot + 1e-9f));
                 }>(),
                 "did you exchange the target and the prediction?"));
  CHECK(of_loss<[](auto s, auto, auto ids) {
          auto hot = where(index(vocab) == broadcast<vocab>(ids), 1, 0);
          return -sum<vocab>(cast<f32>(hot) * log(softmax<vocab>(s) + 1e-9f));
        }>() == "");
}

TEST_CASE("a perplexity is the exponential of a mean") {
  constexpr auto perplexity = [](auto f) {
    return slips_in(kernel<"k">([](in<"s", seq, vocab> s, in<"ids", i32, seq> ids) -> out<"y"> {
      return decltype(f){}(logsumexp<vocab>(s) - take<vocab>(s, ids));
    }));
  };
  CHECK(mentions(perplexity([](auto nll) { return mean<seq>(exp(nll)); }),
                 "did you mean exp(mean<seq>("));
  CHECK(perplexity([](auto nll) { return exp(mean<seq>(nll)); }) == "");
}

TEST_CASE("a rotation subtracts one product and adds the other") {
  constexpr auto turned = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X) -> out<"Y", seq, d8> {
      auto p = split<d8, two, half>(X);
      auto angle = index(seq) * pow(10000.0, index(half) * -1.0 / 4);
      return merge<d8, two, half>(
          decltype(f){}(take<two>(p, 0), take<two>(p, 1), cos(angle), sin(angle)));
    }));
  };
  CHECK(mentions(turned([](auto a, auto b, auto c, auto s) {
                   return where(index(two) == 0, a * c + b * s, a * s + b * c);
                 }),
                 "adds both products in both parts"));
  CHECK(mentions(turned([](auto a, auto b, auto c, auto s) {
                   return where(index(two) == 0, a * c - b * s, a * s - b * c);
                 }),
                 "subtracts in both parts"));
  CHECK(turned([](auto a, auto b, auto c, auto s) {
          return where(index(two) == 0, a * c - b * s, a * s + b * c);
        }) == "");
  constexpr auto swapped = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"X", seq, d8> X, param<"c", seq, d8> c, param<"s", seq, d8> s) -> out<"Y", seq, d8> {
          auto front = slice<d8, half>(X, 0);
          auto back = slice<d8, half>(X, 4);
          return X * c + concat<d8, half, half>(decltype(f){}(back), front) * s;
        }));
  };
  CHECK(mentions(swapped([](auto back) { return back; }), "which is not a rotation"));
  CHECK(swapped([](auto back) { return -back; }) == "");
}

TEST_CASE("a state is corrected by what it lacks") {
  constexpr auto delta = [](auto f) {
    return slips_in(kernel<"k">([](in<"K", seq, d8> K, in<"V", seq, e4> V) -> out<"O", seq, e4> {
      return scan<seq>(
                 zeros<d8, e4>(),
                 [](auto s, auto k, auto v) {
                   auto next =
                       s + broadcast<e4>(k) * broadcast<d8>(decltype(f){}(v, dot<d8>(k, s)));
                   return std::pair{next, dot<d8>(k, next)};
                 },
                 unit_length<d8>(K), V)
          .result;
    }));
  };
  CHECK(mentions(delta([](auto v, auto held) { return v + held; }), "already holds"));
  CHECK(mentions(delta([](auto v, auto held) { return held - v; }), "the other sign"));
  CHECK(delta([](auto v, auto held) { return v - held; }) == "");
}

TEST_CASE("pages have as many slots as their axis") {
  constexpr auto paged = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"K", pool, d8> K, in<"table", i32, pages> table) -> out<"O", pages, in_page, d8> {
          return take<pool>(K, decltype(f){}(table));
        }));
  };
  CHECK(mentions(paged([](auto table) { return table * 4 + index(in_page); }),
                 "did you mean table * size(in_page)?"));
  CHECK(paged([](auto table) { return table * 8 + index(in_page); }) == "");
}

TEST_CASE("the features of linear attention are positive on both sides") {
  constexpr auto linear = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V) -> out<"O", seq, e4> {
          auto q = decltype(f){}(Q);
          auto k = elu(K) + 1;
          return dot<d8>(q, dot<kv>(k, V)) / dot<d8>(q, sum<kv>(k));
        }));
  };
  CHECK(mentions(linear([](auto Q) { return elu(Q); }), "did you mean elu(Q) + 1?"));
  CHECK(linear([](auto Q) { return elu(Q) + 1; }) == "");
}

}  // namespace qkv::testing::slips
