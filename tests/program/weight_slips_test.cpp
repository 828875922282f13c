// SPDX-License-Identifier: BSL-1.0
// Slips in weights, masks and quotients are found, and their right neighbours are not.
#include <qkv/dsl.hpp>

#include <limits>
#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr batch_axis<"batch"> batch;
constexpr batch_axis<"heads", 8> heads;
constexpr batch_axis<"kv_heads", 2> kv_heads;
constexpr axis<"seq"> seq;
constexpr alias<"kv", seq> kv;
constexpr axis<"d_k", 64> d_k;
constexpr axis<"d_v", 32> d_v;
constexpr axis<"distances", 33> distances;
constexpr axis<"model", 16> model;
constexpr axis<"few", 3> few;
constexpr axis<"both"> both;

// The slips of Formula(scores, Q, K, V, keep, table).
template <auto Formula>
std::string of() {
  const auto k =
      kernel<"k">([](in<"Q", batch, heads, seq, d_k> Q, in<"K", batch, heads, kv, d_k> K,
                     in<"V", batch, heads, kv, d_v> V, in<"keep", b8, batch, seq, kv> keep,
                     param<"table", heads, distances> table) -> out<"O", batch, heads, seq, d_v> {
        return Formula(dot<d_k>(Q, K) / sqrt(d_k), Q, K, V, keep, table);
      });
  return lines_of(codegen::make_program(k));
}

}  // namespace

TEST_CASE("slips: what weighs values") {
  CHECK(mentions(
      of<[](auto s, auto, auto, auto V, auto, auto) { return dot<kv>(s - logsumexp<kv>(s), V); }>(),
      "are logarithms of weights; did you mean exp("));
  CHECK(of<[](auto s, auto, auto, auto V, auto, auto) {
          return dot<kv>(exp(s - logsumexp<kv>(s)), V);
        }>()
            .empty());
  const auto entropy = kernel<"k">([](in<"S", seq, kv> S) -> out<"H", seq> {
    return -sum<kv>(softmax<kv>(S) * (S - logsumexp<kv>(S)));
  });
  CHECK(lines_of(codegen::make_program(entropy)).empty());

  CHECK(mentions(of<[](auto s, auto, auto, auto V, auto, auto table) {
                   return dot<kv>(s + relative_bias<seq, kv, distances>(table), V);
                 }>(),
                 "has a bias of scores, but no softmax takes it; did you mean softmax<kv>(..)"));
  CHECK(of<[](auto s, auto, auto, auto V, auto, auto table) {
          return dot<kv>(softmax<kv>(s + relative_bias<seq, kv, distances>(table)), V);
        }>()
            .empty());

  CHECK(mentions(of<[](auto s, auto, auto, auto V, auto, auto) {
                   return mean<kv>(broadcast<d_v>(softmax<kv>(s)) * V);
                 }>(),
                 "adds up to 1 already; did you mean dot<kv>(softmax<kv>(dot(Q, K) / 8), V)?"));
  CHECK(of<[](auto s, auto, auto, auto V, auto, auto) {
          return sum<kv>(broadcast<d_v>(softmax<kv>(s)) * V);
        }>()
            .empty());

  CHECK(mentions(of<[](auto s, auto, auto, auto V, auto, auto) {
                   return dot<kv>(softmax<kv>(s) - 0.5 * s, V);
                 }>(),
                 "are scores beside the weights softmax<kv>("));
  CHECK(of<[](auto s, auto, auto, auto V, auto, auto) {
          return dot<kv>(softmax<kv>(s) - 0.5 * softmax<kv>(2 * s), V);
        }>()
            .empty());

  CHECK(mentions(of<[](auto s, auto, auto, auto V, auto, auto) {
                   return sigmoid_attention<kv>(softmax<kv>(s), V, -log(size(kv)));
                 }>(),
                 "are weights, not scores; did you mean the sigmoid of dot(Q, K) / 8?"));
  CHECK(of<[](auto s, auto, auto, auto V, auto, auto) {
          return sigmoid_attention<kv>(s, V, -log(size(kv)));
        }>()
            .empty());
}

TEST_CASE("slips: what a mask does to scores") {
  const auto weights = []<class Scores>(Scores) {
    return of<[](auto s, auto, auto, auto V, auto keep, auto) {
      return dot<kv>(softmax<kv>(Scores{}(s, keep)), V);
    }>();
  };
  CHECK(mentions(weights([](auto s, auto keep) { return where(keep, s, 0); }),
                 "hidden keys have the score 0, and so a weight; did you mean mask(dot(Q, K) / 8, "
                 "keep)?"));
  CHECK(mentions(weights([](auto s, auto keep) { return where(keep, 0, s); }),
                 "mask(dot(Q, K) / 8, !keep)"));
  CHECK(mentions(weights([](auto s, auto keep) { return where(keep, s, 1e9); }),
                 "hidden keys have the score 1e+09, and so all the weight; did you mean mask("));
  CHECK(weights([](auto s, auto) { return where(s > 0, s, 0); }).empty());
  CHECK(weights([](auto s, auto keep) { return where(keep, s, -1e9); }).empty());
  CHECK(weights([](auto s, auto keep) { return let<"insists">(where(keep, s, 0)); }).empty());
  CHECK(weights([](auto s, auto keep) { return mask(s, keep); }).empty());

  CHECK(mentions(weights([](auto s, auto keep) { return s + cast<f32>(keep); }),
                 "adds 1 where keep is true, which hides no key; did you mean mask("));
  CHECK(weights([](auto s, auto keep) { return s + 2 * cast<f32>(keep); }).empty());
  CHECK(weights([](auto s, auto keep) { return s + let<"bonus">(cast<f32>(keep)); }).empty());

  CHECK(mentions(weights([](auto s, auto) {
                   return s + (1 - cast<f32>(causal<seq, kv>)) *
                                  -std::numeric_limits<float>::infinity();
                 }),
                 "0 * -inf is NaN where index(kv) <= index(seq) is true; did you mean "
                 "where(index(kv) <= index(seq), 0, -inf)?"));
  CHECK(weights([](auto s, auto) {
          return s + where(causal<seq, kv>, 0, -std::numeric_limits<float>::infinity());
        }).empty());

  CHECK(mentions(
      weights([](auto s, auto) { return softcap(s + where(causal<seq, kv>, 0, -1e9), 50); }),
      "the cap keeps -1e+09 from hiding a key"));
  CHECK(mentions(weights([](auto s, auto) { return softcap(where(causal<seq, kv>, s, -1e9), 50); }),
                 "under the mask?"));
  CHECK(weights([](auto s, auto) {
          return softcap(s, 50) + where(causal<seq, kv>, 0, -1e9);
        }).empty());

  CHECK(mentions(weights([](auto s, auto keep) {
                   return mask(s, (causal<seq, kv> || keep) && causal<seq, kv>);
                 }),
                 "or keep is always true where index(kv) <= index(seq) is"));
  CHECK(weights([](auto s, auto keep) {
          return mask(s, (index(kv) < 4 || keep) && causal<seq, kv>);
        }).empty());

  const auto pooled = []<class Pool>(Pool) {
    const auto k = kernel<"k">(
        [](in<"X", batch, seq, model> X,
           in<"keep", b8, batch, seq> keep) -> out<"Y", batch, model> { return Pool{}(X, keep); });
    return lines_of(codegen::make_program(k));
  };
  CHECK(
      mentions(pooled([](auto X, auto keep) { return mean<seq>(X * cast<f32>(keep)); }),
               "positions where keep is false count as 0; did you mean mean<seq>(mask(X, keep))?"));
  CHECK(mentions(pooled([](auto X, auto keep) { return max<seq>(X * cast<f32>(keep)); }),
                 "did you mean max<seq>(mask(X, keep))?"));
  CHECK(
      mentions(pooled([](auto X, auto keep) { return mean<seq>(where(keep, X, 0)); }),
               "positions where keep is false count as 0; did you mean mean<seq>(mask(X, keep))?"));
  CHECK(pooled([](auto X, auto) { return mean<seq>(where(X > 0, X, 0)); }).empty());
  CHECK(pooled([](auto X, auto keep) { return sum<seq>(X * cast<f32>(keep)); }).empty());
  CHECK(pooled([](auto X, auto keep) { return mean<seq>(mask(X, keep)); }).empty());
}

TEST_CASE("slips: logarithms, and comparisons that are decided") {
  const auto lost = []<class Of>(Of) {
    constexpr static axis<"vocab"> vocab;
    const auto k = kernel<"k">(
        [](in<"logits", seq, vocab> logits, in<"label", i32, seq> label,
           in<"seed", i32> seed) -> out<"y", seq> { return Of{}(logits, label, seed); });
    return lines_of(codegen::make_program(k));
  };
  constexpr static axis<"vocab"> vocab;
  CHECK(mentions(
      lost([](auto x, auto label, auto) { return -take<vocab>(x / logsumexp<vocab>(x), label); }),
      "is a logarithm; did you mean - logsumexp<vocab>(logits)?"));
  CHECK(mentions(lost([](auto x, auto, auto) { return logsumexp<vocab>(x - logsumexp<vocab>(x)); }),
                 "is 0 always, as logits - logsumexp<vocab>(logits) are logarithms of weights"));
  CHECK(mentions(lost([](auto x, auto, auto) { return mean<vocab>(softmax<vocab>(x)); }),
                 "adds up to 1 always; did you mean another axis?"));
  CHECK(mentions(lost([](auto x, auto, auto seed) {
                   auto u = min(max(uniform<seq, vocab>(seed), 1e-6), 0.999999);
                   return sum<vocab>(x - log(log(u)));
                 }),
                 "is never positive; did you mean -log("));
  CHECK(lost([](auto x, auto, auto seed) {
          auto u = min(max(uniform<seq, vocab>(seed), 1e-6), 0.999999);
          return sum<vocab>(x - log(-log(u)));
        }).empty());
  CHECK(
      mentions(lost([](auto x, auto, auto) { return sum<vocab>(where(x > max<vocab>(x), x, 1)); }),
               "is never true; did you mean >=?"));
  CHECK(
      lost([](auto x, auto, auto) { return sum<vocab>(where(x >= max<vocab>(x), x, 1)); }).empty());
  CHECK(mentions(lost([](auto x, auto, auto) { return sum<vocab>(where(sigmoid(x) > 0, x, 1)); }),
                 "is always true; did you mean > 0.5?"));
  CHECK(mentions(
      lost([](auto x, auto, auto) { return cast<f32>(sum<vocab>(cast<i32>(sigmoid(x)))); }),
      "is rarely 1, and less becomes 0"));
}

TEST_CASE("slips: sums that may be 0, and sums of others") {
  CHECK(mentions(
      of<[](auto s, auto, auto, auto V, auto, auto) { return dot<kv>(s / sum<kv>(s), V); }>(),
      "may be negative, so that its sum can be 0; did you mean softmax<kv>("));
  CHECK(of<[](auto s, auto, auto, auto V, auto, auto) {
          return dot<kv>(relu(s) / sum<kv>(relu(s)), V);
        }>()
            .empty());
  CHECK(mentions(of<[](auto s, auto, auto, auto V, auto, auto) {
                   return dot<kv>(normalize<kv>(tanh(s)), V);
                 }>(),
                 "may be negative, so that its sum can be 0; did you mean sigmoid"));

  constexpr auto linear = []<class By>(By) {
    return of<[](auto, auto Q, auto K, auto V, auto, auto) {
      auto q = elu_plus_one(Q);
      auto k = elu_plus_one(K);
      return By{}(q, k, V);
    }>();
  };
  CHECK(mentions(linear([](auto q, auto k, auto V) {
                   return dot<d_k>(q, dot<kv>(k, V)) / dot<d_k>(q, mean<kv>(k));
                 }),
                 "the dividend adds up kv, but mean<kv>("));
  CHECK(mentions(linear([](auto q, auto k, auto V) {
                   auto w = mask(dot<d_k>(q, k), causal<seq, kv>);
                   return dot<kv>(w, V) / sum<kv>(dot<d_k>(q, k));
                 }),
                 "is divided by a sum of"));
  CHECK(linear([](auto q, auto k, auto V) {
          return dot<d_k>(q, dot<kv>(k, V)) / dot<d_k>(q, sum<kv>(k));
        }).empty());

  const auto projected = []<class Map>(Map) {
    const auto k =
        kernel<"k">([](in<"X", seq, model> X, param<"Wq", model, d_k> Wq,
                       param<"Wk", model, d_k> Wk, in<"V", kv, d_v> V) -> out<"O", seq, d_v> {
          auto keys = rename<seq, kv>(dot<model>(X, Wk));
          return linear_attention<d_k, kv>(Map{}(dot<model>(X, Wq)), Map{}(keys), V, 1e-6);
        });
    return lines_of(codegen::make_program(k));
  };
  CHECK(
      mentions(projected([](auto x) { return x; }),
               "may be negative, so that their sum can be 0; did you mean elu_plus_one of both?"));
  CHECK(projected([](auto x) { return elu_plus_one(x); }).empty());
}

TEST_CASE("slips: where keys and values come from") {
  const auto joined = []<class Join>(Join) {
    constexpr static axis<"past"> past;
    constexpr static axis<"all"> all;
    const auto k = kernel<"k">([](in<"Q", seq, d_k> Q, in<"K", seq, d_k> K, in<"V", seq, d_v> V,
                                  in<"past_K", past, d_k> past_K,
                                  in<"past_V", past, d_v> past_V) -> out<"O", seq, d_v> {
      return scaled_dot_product<d_k, all>(Q, concat<all>(K, past_K), Join{}(past_V, V));
    });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(joined([](auto past, auto now) {
                   constexpr axis<"all"> all;
                   return concat<all>(past, now);
                 }),
                 "joins the parts of all in another order than concat<all, seq, past>(K, past_K)"));
  CHECK(joined([](auto past, auto now) {
          constexpr axis<"all"> all;
          return concat<all>(now, past);
        }).empty());

  const auto apart = kernel<"k">([
  ](in<"A", seq, d_k> A, in<"B", few, d_k> B) -> outs<out<"x", both, d_k>, out<"y", both, d_k>> {
    return {concat<both>(A, B), concat<both>(B, A)};
  });
  CHECK(lines_of(codegen::make_program(apart)).empty());

  const auto shared = []<class Which>(Which) {
    const auto k = kernel<"k">(
        [](in<"Q", heads, seq, d_k> Q, in<"K", kv_heads, kv, d_k> K) -> out<"S", heads, seq, kv> {
          return dot<d_k>(Q, take<kv_heads>(K, Which{}()));
        });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(shared([] { return index(heads); }),
                 "positions up to 7 are taken of kv_heads, which has 2"));
  CHECK(of<[](auto s, auto, auto, auto V, auto, auto) {
          auto away = cast<f32>(abs(index(kv) - index(seq)));
          return dot<kv>(softmax<kv>(s / (1 + 0.5 * away)), V);
        }>()
            .empty());
  CHECK(shared([] { return cast<i32>((index(heads) + 0.5) / 4); }).empty());
}

}  // namespace qkv::testing::slips
