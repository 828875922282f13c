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
                   return z * s + (z - 1) * tanh(y);
                 }>(),
                 "with the other sign; did you mean 1 - sigmoid("));
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

TEST_CASE("a learned cap divides inside of tanh") {
  constexpr auto capped = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"cap"> cap) -> out<"Y", seq, d8> {
      return decltype(f){}(X, cap);
    }));
  };
  CHECK(mentions(capped([](auto x, auto cap) { return tanh(x * cap) * cap; }),
                 "did you mean cap * tanh(X / cap)?"));
  CHECK(capped([](auto x, auto cap) { return cap * tanh(x / cap); }) == "");
}

TEST_CASE("products are activated, not matrices") {
  constexpr auto ffn = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"X", seq, d8> X, param<"W1", d8, e4> W1) -> out<"Y", seq, e4> {
          return decltype(f){}(X, W1);
        }));
  };
  CHECK(mentions(ffn([](auto x, auto w) { return dot<d8>(x, gelu(w)); }),
                 "activates the matrix W1; did you mean to activate dot(X, W1)?"));
  CHECK(ffn([](auto x, auto w) { return gelu(dot<d8>(x, w)); }) == "");
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
  CHECK(mentions(of_two<[](auto X, auto Y) { return tanh(Y) * rsqrt(mean<d8>(X * X) + 1e-6f); }>(),
                 "divides tanh(Y) by the root mean square of X"));
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
                 "which is not a rotation"));
  CHECK(mentions(turned([](auto a, auto b, auto c, auto s) {
                   return where(index(two) == 0, a * c - b * s, a * s - b * c);
                 }),
                 "which is not a rotation"));
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

TEST_CASE("a state that decays goes down the gradient of its error") {
  constexpr auto step_by = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"K", seq, d8> K, in<"V", seq, e4> V, in<"a", seq> a) -> out<"O", seq, e4> {
          return scan<seq>(
                     zeros<d8, e4>(),
                     [](auto s, auto k, auto v, auto a) {
                       auto surprise = 2 * broadcast<e4>(k) * (dot<d8>(k, s) - v);
                       auto next = decltype(f){}((1 - a) * s, 0.5 * surprise);
                       return std::pair{next, dot<d8>(k, next)};
                     },
                     unit_length<d8>(K), V, sigmoid(a))
              .result;
        }));
  };
  CHECK(mentions(step_by([](auto s, auto step) { return s + step; }), "the other sign"));
  CHECK(step_by([](auto s, auto step) { return s - step; }) == "");
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

TEST_CASE("functions of one number are those that people know") {
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + 0.5f * X * erf(0.707f * X); }>(),
                 "did you mean gelu(X)?"));
  CHECK(of_two<[](auto X, auto Y) { return Y + 0.5f * X * (1 + erf(0.707f * X)); }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + where(X > 0, X, exp(X)); }>(),
                 "did you mean elu(X)?"));
  CHECK(of_two<[](auto X, auto Y) { return Y + where(X > 0, X + 1, exp(X)); }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + where(X > 0, 0.01f * X, X); }>(),
                 "did you exchange the branches?"));
  CHECK(of_two<[](auto X, auto Y) { return Y + where(X > 0, X, 0.01f * X); }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + log(1 + exp(abs(X))); }>(),
                 "did you mean exp(-abs(X))?"));
  CHECK(of_two<[](auto X, auto Y) { return Y + max(X, 0) + log(1 + exp(-abs(X))); }>() == "");
}

TEST_CASE("norms divide") {
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + X * sqrt(mean<d8>(X * X)); }>(),
                 "multiplies X by its root mean square"));
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + X * rsqrt(mean<d8>(X * X) + 1e5f); }>(),
                 "did you mean a small number"));
  CHECK(mentions(of_two<[](auto X, auto Y) { return X / min(abs(sum<d8>(X * Y)), 1); }>(),
                 "did you mean max(abs("));
  CHECK(of_two<[](auto X, auto Y) { return X / max(abs(sum<d8>(X * Y)), 1); }>() == "");
  constexpr auto cosine = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V) -> out<"O", seq, e4> {
          auto q = broadcast<kv>(sqrt(sum<d8>(Q * Q) + 1e-6f));
          auto k = broadcast<seq>(sqrt(sum<d8>(K * K) + 1e-6f));
          return dot<kv>(softmax<kv>(dot<d8>(Q, K) / decltype(f){}(q, k) * 10), V);
        }));
  };
  CHECK(mentions(cosine([](auto q, auto k) { return q + k; }), "did you mean their product?"));
  CHECK(cosine([](auto q, auto k) { return q * k; }) == "");
}

TEST_CASE("averages divide by how many there are, shares by what is left") {
  CHECK(mentions(of_loss<[](auto s, auto t, auto) {
                   return max<vocab>((softmax<vocab>(s) + softmax<vocab>(t)) / 3);
                 }>(),
                 "is an average of 2 weights"));
  CHECK(of_loss<[](auto s, auto t, auto) {
          return max<vocab>((softmax<vocab>(s) + softmax<vocab>(t)) / 2);
        }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return 0.9f * X + 0.9f * Y; }>(),
                 "has the factor 0.9 on both terms"));
  CHECK(of_two<[](auto X, auto Y) { return 0.9f * X + 0.1f * Y; }>() == "");
  CHECK(of_two<[](auto X, auto Y) { return 0.5f * X + 0.5f * Y; }>() == "");
  CHECK(
      mentions(of_two<[](auto X, auto Y) { return sqrt(sigmoid(X)) * X + (1 - sigmoid(X)) * Y; }>(),
               "has a root on one share alone"));
  CHECK(mentions(of_two<[](auto X, auto Y) { return sqrt(abs(X)) * X + sqrt(abs(X)) * Y; }>(),
                 "did you mean sqrt(1 - abs(X)) on one?"));
  CHECK(mentions(of_gate<[](auto s, auto x, auto y) { return tanh(x) * s + sigmoid(y) * y; }>(),
                 "did you mean sigmoid(X)?"));
}

TEST_CASE("smoothed labels and focal losses weigh what they mean") {
  constexpr auto smoothed = [](auto f) {
    return of_loss<[](auto s, auto, auto ids) {
      auto l = log_of(s);
      return decltype(f){}(take<vocab>(l, ids), mean<vocab>(l));
    }>();
  };
  CHECK(mentions(smoothed([](auto own, auto all) { return -0.9f * own + 0.1f * all; }),
                 "with the other sign"));
  CHECK(mentions(smoothed([](auto own, auto all) { return -0.9f * own - 0.9f * all; }),
                 "has two equal shares"));
  CHECK(smoothed([](auto own, auto all) { return -0.9f * own - 0.1f * all; }) == "");
  constexpr auto focal = [](auto f) {
    return of_loss<[](auto s, auto, auto ids) {
      auto l = take<vocab>(log_of(s), ids);
      return -pow(decltype(f){}(exp(l)), 2) * l;
    }>();
  };
  CHECK(mentions(focal([](auto p) { return p; }), "weighs what is certain"));
  CHECK(focal([](auto p) { return 1 - p; }) == "");
}

TEST_CASE("mixtures, temperatures and variances of losses") {
  CHECK(mentions(of_loss<[](auto s, auto t, auto) {
                   auto p = softmax<vocab>(s);
                   auto q = softmax<vocab>(t);
                   return sum<vocab>(p * (log(p) - log(p + q)));
                 }>(),
                 "did you mean half of their sum?"));
  CHECK(mentions(of_loss<[](auto s, auto, auto ids) {
                   return logsumexp<vocab>(s / 2) - take<vocab>(s, ids);
                 }>(),
                 "in one term alone"));
  CHECK(of_loss<[](auto s, auto, auto ids) {
          return logsumexp<vocab>(s / 2) - take<vocab>(s / 2, ids);
        }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + X * X * exp(Y); }>(),
                 "did you mean exp(-Y)?"));
  CHECK(of_two<[](auto X, auto Y) { return Y + X * X * exp(-Y); }>() == "");
  constexpr auto divergence = [](auto sign) {
    return slips_in(kernel<"k">([](in<"m", seq, d8> m, in<"l", seq, d8> l) -> out<"loss", seq> {
      return decltype(sign)::value * sum<d8>(1 + l - m * m - exp(l));
    }));
  };
  CHECK(mentions(divergence(std::integral_constant<int, 1>()), "did you mean -0.5 times it?"));
  CHECK(divergence(std::integral_constant<int, -1>()) == "");
  constexpr auto drawn = [](auto f) {
    return slips_in(kernel<"k">([](in<"m", seq, d8> m, in<"logvar", seq, d8> l, in<"e", seq, d8> e)
                                    -> out<"z", seq, d8> { return m + decltype(f){}(l)*e; }));
  };
  CHECK(mentions(drawn([](auto l) { return exp(l); }), "did you mean exp(0.5 * logvar)?"));
  CHECK(drawn([](auto l) { return exp(0.5f * l); }) == "");
}

TEST_CASE("losses whose branches or bounds are exchanged") {
  constexpr auto huber = [](auto f) {
    return slips_in(kernel<"k">([](in<"y", seq> y, in<"z", seq> z) -> out<"loss", seq> {
      auto d = y - z;
      return decltype(f){}(d);
    }));
  };
  CHECK(mentions(huber([](auto d) { return where(abs(d) > 1, 0.5f * d * d, abs(d) - 0.5f); }),
                 "did you exchange the branches?"));
  CHECK(mentions(huber([](auto d) { return where(abs(d) < 1, 0.5f * d * d, d - 0.5f); }),
                 "did you mean abs(y - z) - 0.5?"));
  CHECK(huber([](auto d) { return where(abs(d) < 1, 0.5f * d * d, abs(d) - 0.5f); }) == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return max(X * Y, min(max(X, 0.8f), 1.2f) * Y); }>(),
                 "takes the larger of both objectives"));
  CHECK(of_two<[](auto X, auto Y) { return min(X * Y, min(max(X, 0.8f), 1.2f) * Y); }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y / (1 - pow(abs(X) + 1, 0.9f)); }>(),
                 "did you mean pow(0.9, abs(X) + 1)?"));
}

TEST_CASE("probabilities of a loss are logarithms, of the right one") {
  constexpr auto loss = [](auto f) {
    return slips_in(kernel<"k">([](in<"s", seq, vocab> s, in<"ids", i32, seq> ids) -> out<"loss"> {
      return mean<seq>(decltype(f){}(s, ids));
    }));
  };
  CHECK(mentions(loss([](auto s, auto ids) { return -take<vocab>(softmax<vocab>(s), ids); }),
                 "did you mean their logarithms?"));
  CHECK(mentions(loss([](auto s, auto ids) {
                   return logsumexp<vocab>(s) - max<vocab>(s) + 0 * cast<f32>(ids);
                 }),
                 "is smallest where one score wins"));
  CHECK(loss([](auto s, auto ids) { return -log(take<vocab>(softmax<vocab>(s), ids)); }) == "");
}

TEST_CASE("a state is read where it is written") {
  constexpr auto delta = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", seq, d8> K, in<"V", seq, e4> V) -> out<"O", seq, e4> {
          return scan<seq>(
                     zeros<d8, e4>(),
                     [](auto s, auto q, auto k, auto v) {
                       auto w = v - dot<d8>(decltype(f){}(q, k), s);
                       auto next = s + broadcast<e4>(k) * broadcast<d8>(w);
                       return std::pair{next, dot<d8>(q, next)};
                     },
                     Q, unit_length<d8>(K), V)
              .result;
        }));
  };
  CHECK(mentions(delta([](auto q, auto) { return q; }), "but is written at another key"));
  CHECK(delta([](auto, auto k) { return k; }) == "");
}

TEST_CASE("exponentials are shifted with what is added to their sum") {
  constexpr auto sink = [](auto f) {
    return of_attention<[](auto Q, auto K, auto V) {
      auto s = dot<d8>(Q, K) / sqrt(d8);
      auto m = max(max<kv>(s), 0);
      auto e = exp(s - m);
      return dot<kv>(e, V) / (sum<kv>(e) + decltype(f){}(m));
    }>();
  };
  CHECK(mentions(sink([](auto) { return 1; }), "did you mean exp(-max(max<kv>("));
  CHECK(sink([](auto m) { return exp(-m); }) == "");
}

TEST_CASE("frequencies fall from 1 to 1 / base") {
  constexpr auto sinusoid = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X) -> out<"Y", seq, d8> {
      auto a = decltype(f){}();
      return X + concat<d8, half, half>(sin(a), cos(a));
    }));
  };
  CHECK(
      mentions(sinusoid([] { return index(seq) / pow(10000.0, -1.0 * index(half) / size(half)); }),
               "divides by a falling power"));
  CHECK(
      mentions(sinusoid([] { return index(seq) * pow(10000.0, -2.0 * index(half) / size(half)); }),
               "ends at the square of 10000"));
  CHECK(sinusoid([] { return index(seq) * pow(10000.0, -1.0 * index(half) / size(half)); }) == "");
}

TEST_CASE("weights of positions do not weigh experts") {
  constexpr auto routed = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"R", d8, vocab> R,
                                   param<"W", d8, vocab, half> W) -> out<"Y", seq, half> {
      return sum<vocab>(decltype(f){}(dot<d8>(X, R)) * dot<d8>(X, W));
    }));
  };
  CHECK(mentions(routed([](auto s) { return softmax<seq>(s); }), "did you mean softmax<vocab>"));
  CHECK(routed([](auto s) { return softmax<vocab>(s); }) == "");
  CHECK(routed([](auto s) { return let<"dispatch">(softmax<seq>(s)); }) == "");
}

TEST_CASE("distances are scores with a minus") {
  constexpr auto near = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K) -> out<"O", seq, d8> {
      return dot<kv>(softmax<kv>(decltype(f){}(Q, K)), K);
    }));
  };
  CHECK(mentions(near([](auto Q, auto K) { return sum<d8>(K * K) - 2 * dot<d8>(Q, K); }),
                 "the same with a minus"));
  CHECK(near([](auto Q, auto K) { return -(sum<d8>(K * K) - 2 * dot<d8>(Q, K)); }) == "");
  CHECK(near([](auto Q, auto K) { return 2 * dot<d8>(Q, K) - sum<d8>(K * K); }) == "");
  CHECK(mentions(
      near([](auto Q, auto K) { return dot<d8>(Q, K) / sqrt(sum<d8>(Q * Q)) / sum<d8>(K * K); }),
      "by the square of the length of K"));
  CHECK(near([](auto Q, auto K) {
          return dot<d8>(Q, K) / sqrt(sum<d8>(Q * Q)) / sqrt(sum<d8>(K * K));
        }) == "");
}

TEST_CASE("decays of both sides make a distance") {
  constexpr auto decayed = [](auto f, auto g) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K) -> out<"O", seq, d8> {
      auto s = dot<d8>(Q * decltype(f){}(index(seq)), K * decltype(g){}(index(kv)));
      return dot<kv>(softmax<kv>(mask(s, causal<seq, kv>)), K);
    }));
  };
  constexpr auto falls = [](auto i) { return pow(0.998, i); };
  constexpr auto grows = [](auto i) { return pow(0.998, -i); };
  CHECK(mentions(decayed(falls, falls), "falls with the sum of both positions"));
  CHECK(decayed(falls, grows) == "");
}

TEST_CASE("a gate scales") {
  constexpr auto gated = [](auto f) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"W", d8, half> W,
                                   param<"V", d8, half> V) -> out<"Y", seq, half> {
      return decltype(f){}(sigmoid(dot<d8>(X, W)), dot<d8>(X, V));
    }));
  };
  CHECK(mentions(gated([](auto g, auto x) { return g + x; }), "to what it should scale"));
  CHECK(gated([](auto g, auto x) { return g * x; }) == "");
}

TEST_CASE("random features of a positive kernel lose half of the square") {
  constexpr auto features = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"X", seq, d8> X, param<"W", d8, half> W) -> out<"Y", seq, half> {
          auto x = decltype(f){}(dot<d8>(X, W), sum<d8>(X * X) / 2);
          return exp(x - max<half>(x));
        }));
  };
  CHECK(mentions(features([](auto p, auto h) { return p + h; }), "did you mean - "));
  CHECK(features([](auto p, auto h) { return p - h; }) == "");
}

TEST_CASE("parts of an attention are weighed by exponentials of their logsumexp") {
  constexpr auto merged = [](auto f) {
    return slips_in(kernel<"k">([](in<"A", seq, d8> A, in<"l", seq> l, in<"B", seq, d8> B,
                                   in<"m", seq> m) -> out<"O", seq, d8> {
      auto most = max(l, m);
      auto w = exp(l - most);
      auto v = exp(m - most);
      return (A * w + B * v) / decltype(f){}(w, v, l, m);
    }));
  };
  CHECK(mentions(merged([](auto, auto, auto l, auto m) { return l + m; }), "but divides by their"));
  CHECK(
      mentions(merged([](auto w, auto v, auto, auto) { return w * v; }), "product of its weights"));
  CHECK(merged([](auto w, auto v, auto, auto) { return w + v; }) == "");
}

TEST_CASE("a cap divides, bends and multiplies") {
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + tanh(X * 30) / 30; }>(), "softcap(X, 30)"));
  CHECK(of_two<[](auto X, auto Y) { return Y + tanh(X / 30) * 30; }>() == "");
  CHECK(of_two<[](auto X, auto Y) { return Y * (0.5 * tanh(X * 0.5) + 0.5); }>() == "");
}

TEST_CASE("gelu by hand") {
  CHECK(mentions(of_two<[](auto X, auto Y) {
                   return Y + X * 0.5 * (1 + tanh(0.7978845608 * (X + 0.044715 * X * X)));
                 }>(),
                 "where gelu has its cube"));
  CHECK(of_two<[](auto X, auto Y) {
          return Y + X * 0.5 * (1 + tanh(0.7978845608 * (X + 0.044715 * X * X * X)));
        }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + X * 0.5 * (1 + erf(X / 2.0)); }>(),
                 "than X / sqrt(2); did you mean gelu(X)?"));
  CHECK(of_two<[](auto X, auto Y) { return Y + X * 0.5 * (1 + erf(X / sqrt(2.0))); }>() == "");
}

TEST_CASE("a gate and what it leaves") {
  CHECK(mentions(of_two<[](auto X, auto Y) {
                   auto h = relu(Y);
                   return sigmoid(X) * h + (1 - h) * X;
                 }>(),
                 "did you mean 1 - sigmoid(X)?"));
  CHECK(of_two<[](auto X, auto Y) {
          auto h = relu(Y);
          return sigmoid(X) * h + (1 - sigmoid(X)) * X;
        }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return tanh(X) * Y + (1 - tanh(X)) * X; }>(),
                 "has a share that may be negative"));
}

TEST_CASE("a logarithm of weights by hand") {
  constexpr auto logarithms = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"s", seq, vocab> s, in<"ids", i32, seq> ids) -> out<"y", seq> {
          return take<vocab>(decltype(f){}(s), ids);
        }));
  };
  CHECK(mentions(logarithms([](auto s) { return s - max<vocab>(s) - log(sum<vocab>(exp(s))); }),
                 "the maximum that the logarithm does not lack"));
  CHECK(logarithms([](auto s) {
          auto x = s - max<vocab>(s);
          return x - log(sum<vocab>(exp(x)));
        }) == "");
}

TEST_CASE("scores are divided by the root of their features") {
  constexpr auto scaled = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K) -> out<"O", seq, d8> {
      return dot<kv>(softmax<kv>(decltype(f){}(dot<d8>(Q, K))), K);
    }));
  };
  CHECK(mentions(scaled([](auto s) { return s / sqrt(size(kv)); }), "did you mean sqrt(d)?"));
  CHECK(scaled([](auto s) { return s / sqrt(size(d8)); }) == "");

  constexpr auto of_parts = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"P", seq, half> P,
                                   in<"R", kv, half> R) -> out<"O", seq, d8> {
      return dot<kv>(softmax<kv>(decltype(f){}(dot<d8>(Q, K), dot<half>(P, R))), K);
    }));
  };
  CHECK(mentions(of_parts([](auto s, auto r) { return s / sqrt(d8) + r; }),
                 "scales the first product alone"));
  CHECK(of_parts([](auto s, auto r) { return (s + r) / sqrt(size(d8) + size(half)); }) == "");
}

TEST_CASE("the divisor of linear attention has its queries and keys") {
  constexpr auto linear = [](auto f) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, half> V) -> out<"O", seq, half> {
          auto q = elu_plus_one(Q);
          auto k = elu_plus_one(K);
          return dot<d8>(q, dot<kv>(k, V)) / decltype(f){}(Q, q, k);
        }));
  };
  CHECK(mentions(linear([](auto, auto q, auto) { return sum<d8>(q); }), "divides by a sum of"));
  CHECK(mentions(linear([](auto Q, auto, auto k) { return dot<d8>(Q, sum<kv>(k)); }),
                 "by those with Q itself; did you mean"));
  CHECK(linear([](auto, auto q, auto k) { return dot<d8>(q, sum<kv>(k)); }) == "");
}

TEST_CASE("frequencies, remainders and decays") {
  CHECK(mentions(
      of_two<[](auto X, auto Y) { return X + Y * exp(index(d8) * -10000.0 / size(d8)); }>(),
      "did you leave out the logarithm of the base?"));
  CHECK(of_two<[](auto X, auto Y) { return X + Y * exp(index(d8) * -9.21 / size(d8)); }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) {
                   auto rest = index(seq) - 8 * cast<i32>(index(seq) / 4);
                   return X + Y * rest;
                 }>(),
                 "is not a remainder"));
  CHECK(of_two<[](auto X, auto Y) {
          auto rest = index(seq) - 8 * cast<i32>(index(seq) / 8);
          return X + Y * rest;
        }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return X * (1 - pow(2.0, index(d8) + 5)) + Y; }>(),
                 "is negative, since the power is at least 1"));
  CHECK(of_two<[](auto X, auto Y) { return X * (1 - pow(2.0, -5 - index(d8))) + Y; }>() == "");
}

TEST_CASE("constants of gelu") {
  CHECK(mentions(of_two<[](auto X, auto Y) {
                   return Y + 0.5 * X * (1 + tanh(0.7978845608 * (X + 0.44715 * X * X * X)));
                 }>(),
                 "did you mean gelu(X)?"));
  CHECK(of_two<[](auto X, auto Y) {
          return Y + 0.5 * X * (1 + tanh(0.7978845608 * (X + 0.044715 * X * X * X)));
        }>() == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y + X * sigmoid(-1.702 * X); }>(),
                 "did you mean 1.702?"));
  CHECK(of_two<[](auto X, auto Y) { return Y + X * sigmoid(1.702 * X); }>() == "");
}

TEST_CASE("a variance is less the square of the mean") {
  CHECK(mentions(of_two<[](auto X, auto Y) {
                   auto m = mean<d8>(X);
                   return Y + (X - m) * rsqrt(max(mean<d8>(X * X) + m * m, 0) + 1e-5);
                 }>(),
                 "adds the square of the mean"));
  CHECK(of_two<[](auto X, auto Y) {
          auto m = mean<d8>(X);
          return Y + (X - m) * rsqrt(max(mean<d8>(X * X) - m * m, 0) + 1e-5);
        }>() == "");
}

TEST_CASE("dropout by hand divides by what it keeps") {
  const auto dropped = [](auto scaled) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"seed", i32> seed) -> out<"Y", seq, d8> {
      return decltype(scaled){}(X, uniform<seq, d8>(seed));
    }));
  };
  CHECK(mentions(dropped([](auto X, auto u) { return where(u >= 0.1, X, 0) / 0.1; }),
                 "which is the share that is left out"));
  CHECK(mentions(dropped([](auto X, auto u) { return X * cast<f32>(u >= 0.1) * 0.9; }),
                 "did you mean / 0.9?"));
  CHECK(dropped([](auto X, auto u) { return where(u >= 0.1, X, 0) / 0.9; }) == "");
}

TEST_CASE("a smoothed loss has one sign, and a coverage counts what came before") {
  const auto smoothed = [](auto joined) {
    return slips_in(kernel<"k">([](in<"s", seq, vocab> s, in<"ids", i32, seq> ids) -> out<"loss"> {
      auto l = log_of(s);
      return mean<seq>(decltype(joined){}(-take<vocab>(l, ids), mean<vocab>(l)));
    }));
  };
  CHECK(mentions(smoothed([](auto nll, auto all) { return 0.9 * nll + 0.1 * all; }),
                 "with the other sign"));
  CHECK(smoothed([](auto nll, auto all) { return 0.9 * nll - 0.1 * all; }) == "");
  const auto coverage = [](auto before) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K) -> out<"loss", seq> {
      auto w = plain(softmax<kv>(dot<d8>(Q, K) / sqrt(d8)));
      return sum<kv>(min(w, decltype(before){}(w, cumsum<seq>(w))));
    }));
  };
  CHECK(mentions(coverage([](auto, auto all) { return all; }), "did you mean cumsum<seq>"));
  CHECK(coverage([](auto w, auto all) { return all - w; }) == "");
}

TEST_CASE("the square and the line of a loss meet") {
  const auto loss = [](auto line) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"Y", seq, d8> Y) -> out<"loss"> {
      auto e = X - Y;
      return mean<seq, d8>(where(abs(e) < 2, 0.5 * e * e, decltype(line){}(abs(e))));
    }));
  };
  CHECK(mentions(loss([](auto far) { return 2 * far + 2; }), "jumps where abs(X - Y) is 2"));
  CHECK(mentions(loss([](auto far) { return far - 0.5; }), "do not meet there"));
  CHECK(loss([](auto far) { return 2 * (far - 1); }) == "");
}

TEST_CASE("cosines are divided by two lengths") {
  const auto cosine = [](auto divided) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V) -> out<"O", seq, e4> {
          return dot<kv>(softmax<kv>(10 * decltype(divided){}(dot<d8>(Q, K), Q * Q, K * K)), V);
        }));
  };
  CHECK(mentions(
      cosine([](auto s, auto q, auto k) { return s / (sum<d8>(q) + 1e-6) / (sum<d8>(k) + 1e-6); }),
      "did you mean their roots?"));
  CHECK(mentions(cosine([](auto s, auto q, auto k) {
                   return s * rsqrt(sum<d8>(q) + 1e-6) * rsqrt(mean<d8>(k) + 1e-6);
                 }),
                 "has Q of unit length"));
  CHECK(cosine([](auto s, auto q, auto k) {
          return s / sqrt(sum<d8>(q) + 1e-6) / sqrt(sum<d8>(k) + 1e-6);
        }) == "");
}

TEST_CASE("a mask of numbers hides nothing as a factor") {
  const auto masked = [](auto with) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   in<"keep", kv> keep) -> out<"O", seq, e4> {
      return dot<kv>(softmax<kv>(decltype(with){}(dot<d8>(Q, K) / sqrt(d8), keep)), V);
    }));
  };
  CHECK(mentions(masked([](auto s, auto keep) { return s * keep; }), "keep > 0))?"));
  CHECK(masked([](auto s, auto keep) { return mask(s, keep > 0); }) == "");
}

TEST_CASE("shares add up over the axis of their divisor") {
  const auto routed = [](auto over) {
    return slips_in(kernel<"k">(
        [](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V) -> out<"O", seq, e4> {
          auto w = plain(softmax<seq>(dot<d8>(Q, K) / sqrt(d8)));
          return dot<kv>(w / decltype(over){}(w), V);
        }));
  };
  CHECK(mentions(routed([](auto w) { return sum<seq>(w); }), "what is 1 over seq"));
  CHECK(routed([](auto w) { return sum<kv>(w); }) == "");
}

TEST_CASE("scores: a scale on both sides, a window, one key for each query") {
  const auto weighed = [](auto scores) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   param<"sigma"> sigma) -> out<"O", seq, e4> {
      return dot<kv>(softmax<kv>(decltype(scores){}(Q, K, sigma)), V);
    }));
  };
  CHECK(mentions(weighed([](auto Q, auto K, auto) {
                   auto scale = pow(size(d8), -0.5);
                   return dot<d8>(Q * scale, K * scale);
                 }),
                 "divides both sides by the root of d"));
  CHECK(weighed([](auto Q, auto K, auto) {
          auto scale = pow(size(d8), -0.25);
          return dot<d8>(Q * scale, K * scale);
        }) == "");
  CHECK(mentions(weighed([](auto Q, auto K, auto) {
                   auto s = dot<d8>(Q, K) / sqrt(d8);
                   return where(index(kv) == index(seq), s, s - 1e5);
                 }),
                 "leaves each query its own key alone"));
  CHECK(weighed([](auto Q, auto K, auto) {
          auto s = dot<d8>(Q, K) / sqrt(d8);
          return where(index(kv) == index(seq), s - 1e5, s);
        }) == "");
  const auto near = [](auto window) {
    return slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"centre", seq> centre,
                                   param<"sigma"> sigma) -> out<"Y", seq, d8> {
      return X * decltype(window){}(index(seq) - centre, sigma);
    }));
  };
  CHECK(mentions(near([](auto d, auto s) { return exp(-(d * d) / 2 * s * s); }),
                 "go from left to right"));
  CHECK(near([](auto d, auto s) { return exp(-(d * d) / (2 * s * s)); }) == "");
}

TEST_CASE("a penalty of coverage counts what is below 1, a scale the largest magnitude") {
  const auto penalty = [](auto bounded) {
    return slips_in(kernel<"k">([](in<"s", seq, kv> s) -> out<"penalty"> {
      return sum<kv>(log(decltype(bounded){}(sum<seq>(plain(softmax<kv>(s))))));
    }));
  };
  CHECK(mentions(penalty([](auto c) { return max(c, 1); }), "did you mean min(.., 1)?"));
  CHECK(penalty([](auto c) { return min(c, 1); }) == "");
  CHECK(mentions(of_two<[](auto X, auto Y) { return Y / (max(max<d8>(X), 1e-8) / 127); }>(),
                 "did you mean max<d>(abs(X))?"));
  CHECK(of_two<[](auto X, auto Y) { return Y / (max(max<d8>(abs(X)), 1e-8) / 127); }>() == "");
}

TEST_CASE("pairs that belong together have the label 1") {
  const auto labelled = [](auto label) {
    return slips_in(kernel<"k">([](in<"I", seq, d8> I, in<"T", kv, d8> T) -> out<"loss"> {
      auto y = decltype(label){}(index(seq) == index(kv));
      return sum<seq, kv>(softplus(-(y * dot<d8>(I, T))));
    }));
  };
  CHECK(mentions(labelled([](auto own) { return where(own, -1.0, 1.0); }), "has -1 for the pairs"));
  CHECK(labelled([](auto own) { return where(own, 1.0, -1.0); }) == "");
}

TEST_CASE("a state is neither turned round nor erased where nothing is written") {
  CHECK(mentions(of_gate<[](auto s, auto x, auto) { return s * (exp(x) * -exp(x)) + x; }>(),
                 "its sign turns at each position"));
  CHECK(of_gate<[](auto s, auto x, auto) { return s * exp(x * -exp(x)) + x; }>() == "");
  const auto delta = [](auto written) {
    return slips_in(kernel<"k">(
        [](in<"K", seq, d8> K, in<"V", seq, e4> V, in<"beta", seq> beta) -> out<"S", d8, e4> {
          return scan<seq>(
                     zeros<d8, e4>(),
                     [](auto s, auto k, auto v, auto b) {
                       auto w = decltype(written){}(b, v, dot<d8>(k, s));
                       return s + broadcast<e4>(k) * broadcast<d8>(w);
                     },
                     K, V, sigmoid(beta))
              .last;
        }));
  };
  CHECK(
      mentions(delta([](auto b, auto v, auto held) { return b * v - held; }), "adds only a part"));
  CHECK(delta([](auto b, auto v, auto held) { return b * (v - held); }) == "");
  // values that are products themselves
  CHECK(delta([](auto b, auto v, auto held) { return b * (v * sigmoid(v) - held); }) == "");
}

}  // namespace qkv::testing::slips
