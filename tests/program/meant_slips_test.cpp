// SPDX-License-Identifier: BSL-1.0
// Specs that resemble a slip and are meant as they stand.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr axis<"joined"> joined;
constexpr axis<"set"> set;
constexpr axis<"body"> body;
constexpr axis<"distances", 17> distances;
constexpr axis<"total"> total;
constexpr axis<"all"> all;
constexpr axis<"one", 1> one;
constexpr axis<"places", 64> places;
constexpr axis<"words", 40> words;
constexpr axis<"two", 2> two;
constexpr axis<"three", 3> three;
constexpr axis<"turned", 8> turned;
constexpr axis<"half4", 4> half4;

// Logits of words from H, and Results(logits, ids).
template <auto Results, class Out>
std::string of_logits() {
  return slips_in(kernel<"k">([](in<"H", seq, d8> H, param<"U", d8, words> U,
                                 in<"ids", i32, seq> ids, in<"may", b8, words> may) -> Out {
    auto [first, second] = Results(dot<d8>(H, U), ids, may);
    return {first, second};
  }));
}

}  // namespace

TEST_CASE("keys have positions from 0 where their queries are the last") {
  CHECK(slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", total, d8> K, in<"V", total, e4> V,
                                param<"P", places, d8> P) -> out<"O", seq, e4> {
          auto placed = K + take<places>(P, index(total));
          return scaled_dot_product<d8, total>(Q, placed, V, causal<seq, total, align::last>);
        })) == "");
}

TEST_CASE("one learned key before those of the queries is causal from the first position") {
  CHECK(slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                param<"k0", one, d8> k0,
                                param<"v0", one, e4> v0) -> out<"O", seq, e4> {
          return scaled_dot_product<d8, all>(Q, concat<all, one, kv>(k0, K),
                                             concat<all, one, kv>(v0, V), index(all) <= index(seq));
        })) == "");
}

TEST_CASE("a layer may see more than a window, and a pooled query all of a causal layer") {
  CHECK(slips_in(kernel<"k">([](in<"X", seq, d8> X) -> out<"Y", seq, d8> {
          auto K = rename<seq, kv>(X);
          auto near = mask(dot<d8>(X, K) / sqrt(d8), sliding_window<seq, kv>(16));
          auto Y = X + dot<kv>(softmax<kv>(near), K);
          auto again = rename<seq, kv>(Y);
          return Y + dot<kv>(softmax<kv>(dot<d8>(Y, again) / sqrt(d8)), again);
        })) == "");
  CHECK(slips_in(kernel<"k">([](in<"X", seq, d8> X, param<"q", d8> q) -> out<"y", d8> {
          auto K = rename<seq, kv>(X);
          auto s = mask(dot<d8>(X, K) / sqrt(d8), causal<seq, kv>);
          auto Y = X + dot<kv>(softmax<kv>(s), K);
          return dot<seq>(softmax<seq>(dot<d8>(Y, q) / sqrt(d8)), Y);
        })) == "");
}

TEST_CASE("a total of logits belongs to a loss") {
  CHECK(of_logits<[](auto l, auto ids, auto may) {
          return std::pair{softmax<words>(mask(l, may)), logsumexp<words>(l) - take<words>(l, ids)};
        },
                  outs<out<"P", seq, words>, out<"loss", seq>>>() == "");
  CHECK(of_logits<[](auto l, auto ids, auto) {
          return std::pair{softmax<words>(l / 2), logsumexp<words>(l) - take<words>(l, ids)};
        },
                  outs<out<"P", seq, words>, out<"loss", seq>>>() == "");
  CHECK(of_logits<[](auto l, auto, auto may) {
          auto z = logsumexp<words>(l);
          return std::pair{softmax<words>(mask(l, may)), mean<seq>(z * z)};
        },
                  outs<out<"P", seq, words>, out<"z">>>() == "");
}

TEST_CASE("words that are replaced may be predicted") {
  CHECK(slips_in(kernel<"k">([](in<"ids", i32, seq> ids, in<"hidden", b8, seq> hidden,
                                param<"E", words, d8> E, param<"m", d8> m) -> out<"loss"> {
          auto X = where(hidden, broadcast<seq>(m), take<words>(E, ids));
          auto K = rename<seq, kv>(X);
          auto Y = X + dot<kv>(softmax<kv>(dot<d8>(X, K) / sqrt(d8)), K);
          auto l = dot<d8>(Y, E);
          return mean<seq>(mask(logsumexp<words>(l) - take<words>(l, ids), hidden));
        })) == "");
}

TEST_CASE("what should be unlikely is looked up in what is computed from it") {
  CHECK(slips_in(kernel<"k">([](in<"ids", i32, seq> ids, param<"E", words, d8> E) -> out<"loss"> {
          auto X = take<words>(E, ids);
          auto K = rename<seq, kv>(X);
          auto s = mask(dot<d8>(X, K) / sqrt(d8), causal<seq, kv>);
          auto l = dot<d8>(X + dot<kv>(softmax<kv>(s), K), E);
          auto p = exp(take<words>(l, ids) - logsumexp<words>(l));
          return mean<seq>(-log(1 - p + 1e-6));
        })) == "");
}

TEST_CASE("a first row without keys may be replaced") {
  CHECK(slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                param<"v0", e4> v0) -> out<"O", seq, e4> {
          auto o = scaled_dot_product<d8, kv>(Q, K, V, index(kv) < index(seq));
          return where(index(seq) == 0, broadcast<seq>(v0), o);
        })) == "");
}

TEST_CASE("scores with a scale of their own are bounded by another number") {
  CHECK(slips_in(kernel<"k">([](in<"q", places> q, in<"K", kv, places> K) -> out<"p", kv> {
          return softmax<kv>(10 * tanh(dot<places>(q, K) / sqrt(places)));
        })) == "");
}

TEST_CASE("meant: queries and keys that meet a table of distances from both sides") {
  CHECK(
      slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, param<"Rq", distances, d8> Rq,
                              param<"Rk", distances, d8> Rk) -> out<"W", seq, kv> {
        auto forth = index(seq) - index(kv);
        auto back = index(kv) - index(seq);
        auto s = dot<d8>(Q, K) + take<distances>(dot<d8>(Q, Rk), min(max(forth + 8, 0), 16)) +
                 take<distances>(dot<d8>(K, Rq), min(max(back + 8, 0), 16));
        return softmax<kv>(s / sqrt(3 * size(d8)));
      })) == "");
}

TEST_CASE("meant: equal shares of a projection") {
  CHECK(slips_in(kernel<"k">([](in<"u", seq, d8> u, param<"W", seq, d8, e4> W) -> out<"y", e4, d8> {
          return sum<seq>(u * W) / size(e4);
        })) == "");
}

TEST_CASE("meant: the likelihood of a target that is 0 or 1") {
  CHECK(slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"Y", seq, d8> Y) -> out<"p", seq, d8> {
          auto p = sigmoid(X);
          return p * Y + (1 - p) * (1 - Y);
        })) == "");
}

TEST_CASE("meant: squared distances whose factor is negative") {
  const auto of_distances = [](auto scaled) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                   param<"gamma"> gamma) -> out<"O", seq, e4> {
      auto d2 = sum<d8>(Q * Q) - 2 * dot<d8>(Q, K) + sum<d8>(K * K);
      return dot<kv>(softmax<kv>(decltype(scaled){}(d2, gamma)), V);
    }));
  };
  CHECK(of_distances([](auto d2, auto) { return d2 / -2.0; }) == "");
  CHECK(of_distances([](auto d2, auto gamma) { return -softplus(gamma) * d2; }) == "");
  CHECK(of_distances([](auto d2, auto gamma) { return d2 / (-2 * gamma * gamma); }) == "");
  CHECK(of_distances([](auto d2, auto gamma) { return d2 * exp(gamma); }) != "");
}

TEST_CASE(
    "meant: two matrices in a row where several products share the first, or it is a window") {
  CHECK(slips_in(kernel<"k">([](in<"X", seq, e4> X, param<"E", e4, d8> E, param<"A", d8, words> A,
                                param<"B", d8, words> B) -> out<"y", seq, words> {
          auto embedded = dot<e4>(X, E);
          return dot<d8>(embedded, A) * sigmoid(dot<d8>(embedded, B));
        })) == "");
  CHECK(slips_in(kernel<"k">([](in<"x", seq> x, param<"F", e4, d8> F,
                                param<"U", d8, words> U) -> out<"y", seq, words> {
          auto at = index(seq) + index(e4) - 2;
          auto window = where(at >= 0 && at < size(seq), take<seq>(x, at), 0);
          return dot<d8>(dot<e4>(window, F), U);
        })) == "");
}

TEST_CASE("meant: rotations of video and sound, which have unlike clocks") {
  CHECK(slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", total, d8> K,
                                in<"V", total, e4> V) -> out<"O", seq, e4> {
          auto rate = pow(10000.0, index(half4) * -1.0 / size(half4));
          auto a = 2 * index(seq) * rate;
          auto b = index(total) * rate;
          auto q = rope<d8, two, half4>(Q, cos(a), sin(a));
          auto k = rope<d8, two, half4>(K, cos(b), sin(b));
          return scaled_dot_product<d8, total>(q, k, V);
        })) == "");
}

TEST_CASE("shifts, sets and parts that only resemble a slip") {
  // RWKV shifts by one token
  CHECK(slips_in(kernel<"k">(
            [](in<"X", seq, d8> X, in<"x0", one, d8> x0, param<"mu", d8> mu) -> out<"Y", seq, d8> {
              return mu * X + (1 - mu) * slice<joined, seq>(concat<joined, one, seq>(x0, X), 0);
            })) == "");
  // a causal convolution
  CHECK(slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"past", two, d8> past, param<"u", d8> u,
                                param<"v", d8> v) -> out<"Y", seq, d8> {
          auto all = concat<joined, two, seq>(past, X);
          return slice<joined, seq>(all, 0) * u + slice<joined, seq>(all, 1) * v;
        })) == "");
  // BiDAF attends to the set by the maxima of scores
  CHECK(slips_in(kernel<"k">([](in<"H", set, d8> H, in<"U", seq, d8> U,
                                param<"w", d8> w) -> outs<out<"A", set, d8>, out<"B", d8>> {
          auto S = dot<d8>(H * w, U);
          return {dot<seq>(softmax<seq>(S), U), dot<set>(softmax<set>(max<seq>(S)), H)};
        })) == "");
  // DeepSets adds what a layer makes of each element
  CHECK(slips_in(kernel<"k">([](in<"X", set, d8> X, param<"W", d8, e4> W, param<"b", e4> b)
                                 -> out<"Y", e4> { return sum<set>(dot<d8>(X, W) + b); })) == "");
  // packed documents, whose padding has an id of its own
  CHECK(slips_in(kernel<"k">([](in<"s", seq, kv> s, in<"V", kv, e4> V, in<"doc", i32, seq> doc,
                                in<"length", i32> length) -> out<"O", seq, e4> {
          auto same = doc == rename<seq, kv>(doc);
          return dot<kv>(softmax<kv>(mask(s, same && padding<seq>(length))), V);
        })) == "");
  // values one position after their keys
  CHECK(slips_in(
            kernel<"k">([](in<"q", d8> q, in<"H", seq, d8> H, in<"X", seq, e4> X) -> out<"o", e4> {
              auto scores = dot<d8>(q, slice<seq, body>(H, 0)) / sqrt(d8);
              return dot<body>(softmax<body>(scores), slice<seq, body>(X, 1));
            })) == "");
}

TEST_CASE("states in units of a running maximum are read with their divisor") {
  CHECK(slips_in(kernel<"k">([](in<"K", seq, d8> K, in<"V", seq, d8> V, param<"w", d8> w,
                                param<"u", d8> u) -> out<"O", seq, d8> {
          auto [O, last] = scan<seq>(
              zeros<three, d8>(),
              [&](auto s, auto k, auto v) {
                auto a = take<three>(s, 0);
                auto b = take<three>(s, 1);
                auto p = take<three>(s, 2);
                auto q = max(p, u + k);
                auto held = exp(p - q);
                auto now = exp(u + k - q);
                auto y = (held * a + now * v) / (held * b + now);
                auto r = max(p - exp(w), k);
                auto f = exp(p - exp(w) - r);
                auto g = exp(k - r);
                auto next = where(
                    index(three) == 0, broadcast<three>(f * a + g * v),
                    where(index(three) == 1, broadcast<three>(f * b + g), broadcast<three>(r)));
                return std::pair{next, y};
              },
              K, V);
          (void)last;
          return O;
        })) == "");
}

TEST_CASE("a mask hides padding of a layer and of what goes past it") {
  CHECK(slips_in(
            kernel<"k">([](in<"X", seq, d8> X, in<"x_mask", seq> x_mask, param<"W1", d8, half4> W1,
                           param<"W2", half4, d8> W2) -> out<"Y", seq, d8> {
              return (X + dot<half4>(silu(dot<d8>(X, W1)), W2)) * x_mask;
            })) == "");
}

TEST_CASE("both gates of a decayed state may lack its step") {
  CHECK(slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"W", seq, d8> W) -> out<"S", d8> {
          return scan<seq>(
                     zeros<d8>(),
                     [](auto s, auto x, auto w) { return s * exp(-0.606531 * sigmoid(w)) + x; }, X,
                     W)
              .last;
        })) == "");
}

TEST_CASE("a positive pair is a logsumexp of one key") {
  CHECK(slips_in(kernel<"k">([](in<"A", seq, d8> A, in<"B", kv, d8> B) -> out<"loss"> {
          auto s = dot<d8>(A, B) / 0.07;
          return mean<seq>(logsumexp<kv>(s) - logsumexp<kv>(mask(s, index(seq) == index(kv))));
        })) == "");
}

TEST_CASE("tokens of one scale see each other in an order of scales") {
  CHECK(slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                in<"level", i32, seq> level) -> out<"O", seq, e4> {
          auto seen = index(kv) <= index(seq) || level == rename<seq, kv>(level);
          return dot<kv>(softmax<kv>(mask(dot<d8>(Q, K) / sqrt(d8), seen)), V);
        })) == "");
}

TEST_CASE("kept numbers: counts, bounded temperatures, bounded cosines") {
  const auto of = [](auto f) {
    return slips_in(
        kernel<"k">([](in<"X", seq, d8> X, in<"n", i32, seq> n,
                       in<"t", seq> t) -> out<"Y", seq, d8> { return decltype(f){}(X, n, t); }));
  };
  CHECK(of([](auto x, auto n, auto t) { return x * t / max(log(cast<f32>(n)), 1e-6); }) == "");
  CHECK(of([](auto x, auto n, auto t) { return x * cast<f32>(n) / min(max(t, 0.001), 0.1); }) ==
        "");
}

TEST_CASE("logits of a choice are bounded by 50") {
  CHECK(slips_in(kernel<"k">(
            [](in<"Q", d8> Q, in<"K", kv, d8> K, in<"free", b8, kv> free) -> out<"share", kv> {
              return softmax<kv>(mask(50 * tanh(dot<d8>(Q, K) / sqrt(d8)), free));
            })) == "");
}

TEST_CASE("guidance by the rest of its strength") {
  CHECK(slips_in(kernel<"k">([](in<"cond", seq, d8> c, in<"uncond", seq, d8> u, in<"w"> w)
                                 -> out<"eps", seq, d8> { return c + (1 - w) * (u - c); })) == "");
}

TEST_CASE("labels that are mixed have a share each") {
  CHECK(slips_in(kernel<"k">([](in<"s", seq, words> s, in<"a", i32, seq> a,
                                in<"b", i32, seq> b) -> out<"loss", seq> {
          return logsumexp<words>(s) - take<words>(s, a) * 0.7 - take<words>(s, b) * 0.3;
        })) == "");
}

TEST_CASE("a logarithm of 0 hides scores") {
  CHECK(slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                in<"may", b8, kv> may) -> out<"O", seq, e4> {
          auto s = dot<d8>(Q, K) / sqrt(d8) + log(where(may, 1.f, 0.f));
          return dot<kv>(softmax<kv>(s), V);
        })) == "");
}

TEST_CASE("whole tokens of an input are left out without a scale") {
  CHECK(slips_in(kernel<"k">([](in<"X", seq, d8> X, in<"seed", i32> seed,
                                param<"W", d8, e4> W) -> out<"Y", seq, e4> {
          return dot<d8>(where(uniform<seq>(seed) < 0.75, 0, X), W);
        })) == "");
}

TEST_CASE("small weights are left out as they are") {
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto w = softmax<kv>(dot<d8>(Q, K) / sqrt(d8));
          return dot<kv>(where(w > 0.01, w, 0), V);
        }>() == "");
}

TEST_CASE("scales of whole numbers are of the past and of magnitudes") {
  CHECK(slips_in(kernel<"k">([](in<"amax_history", seq> amax) -> out<"scale"> {
          return max<seq>(amax) / 448;
        })) == "");
}

TEST_CASE("one matrix after both rotations keeps the scores") {
  CHECK(slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                param<"H", d8, turned> H) -> out<"O", seq, e4> {
          auto f = pow(10000, index(half4) * -1.0 / size(half4));
          auto q = rope<d8, two, half4>(Q, cos(index(seq) * f), sin(index(seq) * f));
          auto k = rope<d8, two, half4>(K, cos(index(kv) * f), sin(index(kv) * f));
          return dot<kv>(softmax<kv>(dot<turned>(dot<d8>(q, H), dot<d8>(k, H)) / sqrt(size(d8))),
                         V);
        })) == "");
}

TEST_CASE("a mask that is an input leaves one side of a query") {
  CHECK(slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                                in<"may", b8, seq, kv> may) -> out<"O", seq, e4> {
          auto s = dot<d8>(Q, K) / sqrt(d8) + 0.5 * (index(kv) - index(seq));
          return dot<kv>(softmax<kv>(mask(s, may)), V);
        })) == "");
}

TEST_CASE("the real part of complex scores is a difference of products") {
  CHECK(slips_in(kernel<"k">([](in<"Qr", seq, d8> Qr, in<"Qi", seq, d8> Qi, in<"Kr", kv, d8> Kr,
                                in<"Ki", kv, d8> Ki, in<"V", kv, e4> V) -> out<"O", seq, e4> {
          auto s = (dot<d8>(Qr, Kr) - dot<d8>(Qi, Ki)) / sqrt(d8);
          return dot<kv>(softmax<kv>(s), V);
        })) == "");
}

TEST_CASE("two attentions have a share each") {
  CHECK(slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"K", body, d8> K, in<"V", body, e4> V,
                                in<"L", set, d8> L, in<"W", set, e4> W) -> out<"O", seq, e4> {
          auto text = dot<body>(softmax<body>(dot<d8>(Q, K) / sqrt(d8)), V);
          return text + 0.6 * dot<set>(softmax<set>(dot<d8>(Q, L) / sqrt(d8)), W);
        })) == "");
}

}  // namespace qkv::testing::slips
