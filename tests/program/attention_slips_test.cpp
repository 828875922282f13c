// SPDX-License-Identifier: BSL-1.0
// Slips in whole attentions and layers, as people write them out, and their right neighbours.
#include <qkv/dsl.hpp>

#include <string>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr batch_axis<"batch"> batch;
constexpr axis<"d", 64> d;
constexpr axis<"r", 16> r;
constexpr axis<"e", 32> e;

// The slips of a softmax by hand whose divisor has exp(Sink(maximum)) as one more term.
template <auto Sink>
std::string of_sink() {
  return of_attention<[](auto Q, auto K, auto V) {
    auto s = dot<d8>(Q, K) / sqrt(d8);
    auto weights = exp(s - max<kv>(s));
    return dot<kv>(weights, V) / (sum<kv>(weights) + exp(Sink(max<kv>(s))));
  }>();
}

// The slips of relu(s) divided by a sum of Total(s).
template <auto Total>
std::string of_mapped() {
  return of_attention<[](auto Q, auto K, auto V) {
    auto s = dot<d8>(Q, K) / sqrt(d8);
    return dot<kv>(relu(s) / (sum<kv>(Total(s)) + 1e-6), V);
  }>();
}

// The slips of a result to which Pooled(V, keep[kv]) is added.
template <auto Pooled>
std::string of_pooled() {
  return of_attention<[](auto Q, auto K, auto V) {
    return dot<kv>(softmax<kv>(dot<d8>(Q, K) / sqrt(d8)), V) +
           broadcast<seq>(Pooled(V, index(kv) < 7));
  }>();
}

// The slips of weights less a part of the weights of Other(s).
template <auto Other>
std::string of_difference() {
  return of_attention<[](auto Q, auto K, auto V) {
    auto s = dot<d8>(Q, K) / sqrt(d8);
    return dot<kv>(softmax<kv>(s) - 0.8 * softmax<kv>(Other(s)), V);
  }>();
}

// The slips of softmax<kv>(Formula(s, keep[kv])) V, where s are scaled scores.
template <auto Formula>
std::string of_kept() {
  const auto k =
      kernel<"k">([](in<"Q", batch, seq, d> Q, in<"K", batch, kv, d> K, in<"V", batch, kv, e> V,
                     in<"keep", b8, batch, kv> keep) -> out<"O", batch, seq, e> {
        return dot<kv>(softmax<kv>(Formula(dot<d>(Q, K) / sqrt(d), keep)), V);
      });
  return lines_of(codegen::make_program(k));
}

template <auto Formula>
std::string of_dropout() {
  const auto k =
      kernel<"k">([](in<"Q", batch, seq, d> Q, in<"K", batch, kv, d> K, in<"V", batch, kv, e> V,
                     in<"seed", i32> seed) -> out<"O", batch, seq, e> {
        auto weights = softmax<kv>(dot<d>(Q, K) / sqrt(d));
        return dot<kv>(Formula(weights, uniform<batch, seq, kv>(seed)), V);
      });
  return lines_of(codegen::make_program(k));
}

// The slips of a result beside the logsumexp of Formula(products, scores).
template <auto Formula>
std::string of_total() {
  const auto k = kernel<"k">(
      [](in<"Q", batch, seq, d> Q, in<"K", batch, kv, d> K,
         in<"V", batch, kv, e> V) -> outs<out<"O", batch, seq, e>, out<"lse", batch, seq>> {
        auto products = dot<d>(Q, K);
        auto scores = products / sqrt(d);
        return {dot<kv>(softmax<kv>(scores), V), logsumexp<kv>(Formula(products, scores))};
      });
  return lines_of(codegen::make_program(k));
}

// The slips of a layer of two products.
constexpr axis<"hidden", 256> hidden;
template <auto Between>
std::string of_layer() {
  const auto k = kernel<"k">([](in<"X", batch, seq, d> X, param<"W1", d, hidden> W1,
                                param<"W2", hidden, d> W2) -> out<"Y", batch, seq, d> {
    return X + dot<hidden>(Between(dot<d>(X, W1)), W2);
  });
  return lines_of(codegen::make_program(k));
}

// The slips of scores of two parts, of 64 and of 16 features.
template <auto Scaled>
std::string of_two_parts() {
  const auto k = kernel<"k">([](in<"Q", batch, seq, d> Q, in<"K", batch, kv, d> K,
                                in<"Qr", batch, seq, r> Qr, in<"Kr", batch, kv, r> Kr,
                                in<"V", batch, kv, e> V) -> out<"O", batch, seq, e> {
    return dot<kv>(softmax<kv>(Scaled(dot<d>(Q, K) + dot<r>(Qr, Kr))), V);
  });
  return lines_of(codegen::make_program(k));
}

}  // namespace

TEST_CASE("slips: numbers for hidden keys that hide nothing, or the others") {
  CHECK(of_kept<[](auto s, auto keep) { return where(keep, s, 1e-9); }>() ==
        "softmax<kv>(where(keep, dot(Q, K) / 8, 1e-09)): hidden keys have the score 1e-09, and so "
        "a weight; did you mean mask(dot(Q, K) / 8, keep)? if it is meant, let<..>(..)");
  CHECK(of_kept<[](auto s, auto keep) { return where(keep, s, -1e9); }>().empty());
}

template <auto Bias>
std::string of_length() {
  const auto k = kernel<"k">([](in<"Q", batch, seq, d> Q, in<"K", batch, kv, d> K,
                                in<"V", batch, kv, e> V, in<"length", i32, batch> length,
                                in<"id", i32, batch, seq> id) -> out<"O", batch, seq, e> {
    return dot<kv>(softmax<kv>(Bias(dot<d>(Q, K) / sqrt(d), length, id)), V);
  });
  return lines_of(codegen::make_program(k));
}

TEST_CASE("slips: an additive mask that shows the padding, ids compared with themselves") {
  CHECK(mentions(of_length<[](auto s, auto length, auto) {
                   return s + cast<f32>(index(kv) < length) * -1e4;
                 }>(),
                 "hides the keys that count and shows the padding; did you exchange its values?"));
  CHECK(of_length<[](auto s, auto length, auto) {
          return s + (1 - cast<f32>(index(kv) < length)) * -1e4;
        }>()
            .empty());
  CHECK(
      mentions(of_length<[](auto s, auto, auto id) { return mask(s, broadcast<kv>(id) == id); }>(),
               "is always true; did you mean to rename an axis of one id?"));
}

TEST_CASE("slips: padding of queries alone, where keys are an alias") {
  CHECK(mentions(of_length<[](auto s, auto length, auto) {
                   return mask(s, sliding_window<seq, kv>(4) && padding<seq>(length));
                 }>(),
                 "hides queries from length on, but shows others the keys there; did you mean "
                 "padding<kv>?"));
  CHECK(of_length<[](auto s, auto length, auto) {
          return mask(s, sliding_window<seq, kv>(4) && padding<kv>(length));
        }>() == "");
  CHECK(of_length<[](auto s, auto length, auto) {
          return mask(s, causal<seq, kv> && padding<seq>(length));
        }>() == "");
}

TEST_CASE("slips: a dropout that keeps the other share") {
  CHECK(mentions(
      of_dropout<[](auto w, auto u) { return where(u < 0.1, w / 0.9, 0); }>(),
      "a share of 0.1 is kept, but divided by 0.9; did you mean uniform >= 0.1? if it is meant"));
  CHECK(of_dropout<[](auto w, auto u) { return where(u >= 0.1, w / 0.9, 0); }>().empty());
  CHECK(of_dropout<[](auto w, auto u) { return where(u < 0.9, w / 0.9, 0); }>().empty());
}

TEST_CASE("slips: a logsumexp without the scale of the scores") {
  CHECK(mentions(of_total<[](auto products, auto) { return products; }>(),
                 "adds up dot(Q, K) without the scale that they have in softmax<kv>("));
  CHECK(of_total<[](auto, auto scores) { return scores; }>().empty());
}

TEST_CASE("slips: two products of parameters with nothing between them") {
  CHECK(mentions(of_layer<[](auto x) { return x; }>(),
                 "W1 and W2 are one product with nothing between them; did you leave out an "
                 "activation?"));
  CHECK(of_layer<[](auto x) { return gelu(x); }>().empty());
  CHECK(of_layer<[](auto x) { return let<"linear">(x); }>().empty());
  CHECK(of_layer<[](auto x) { return softmax<hidden>(x); }>().empty());
  CHECK(mentions(lines_of(codegen::make_program(kernel<"k">(
                     [](in<"X", batch, seq, d> X, param<"W1", d, hidden> W1, param<"b1", hidden> b1,
                        param<"W2", hidden, d> W2) -> out<"Y", batch, seq, d> {
                       return X + dot<hidden>(dot<d>(X, W1) + b1, W2);
                     }))),
                 "did you leave out an activation?"));
}

TEST_CASE("slips: the scale of one of two parts") {
  CHECK(mentions(of_two_parts<[](auto s) { return s / sqrt(d); }>(),
                 "adds up d and r, but is divided by the root of one alone; did you mean "
                 "sqrt(size(d) + size(r))?"));
  CHECK(of_two_parts<[](auto s) { return s / sqrt(80.0); }>().empty());
}

TEST_CASE("slips: a cap that cancels") {
  CHECK(mentions(of_kept<[](auto s, auto keep) { return mask(50.0 * tanh(s) / 50.0, keep); }>(),
                 "* 50 and / 50 cancel; did you mean 50 * tanh("));
  CHECK(of_kept<[](auto s, auto keep) { return mask(50.0 * tanh(s / 50.0), keep); }>().empty());
}

TEST_CASE("slips: a sink that is not shifted as the scores are") {
  CHECK(mentions(of_sink<[](auto most) { return 0.5 * most; }>(), "did you mean exp("));
  CHECK(of_sink<[](auto most) { return 1.5 - most; }>().empty());
}

TEST_CASE("slips: mapped scores divided by a sum of scores") {
  CHECK(mentions(of_mapped<[](auto s) { return s; }>(), "did you mean the sum of relu("));
  CHECK(of_mapped<[](auto s) { return relu(s); }>().empty());
}

TEST_CASE("slips: a sum of shown positions divided by all") {
  CHECK(
      mentions(of_pooled<[](auto x, auto keep) { return sum<kv>(where(keep, x, 0)) / size(kv); }>(),
               "leaves out positions that size(kv) counts; did you mean mean<kv>(mask(..))?"));
  CHECK(of_pooled<[](auto x, auto keep) { return mean<kv>(mask(x, keep)); }>().empty());
}

TEST_CASE("slips: weights less a part of themselves") {
  CHECK(mentions(of_difference<[](auto s) { return s; }>(), "itself; did you mean another"));
  CHECK(of_difference<[](auto s) { return s * 2; }>().empty());
}

constexpr axis<"block", 4> block;
constexpr axis<"slot", 16> slot;
constexpr axis<"cached", 64> cached;
template <auto Merged>
std::string of_pages() {
  const auto k = kernel<"k">([](in<"Q", batch, seq, d> Q, in<"K", batch, block, slot, d> K,
                                in<"V", batch, block, slot, e> V) -> out<"O", batch, seq, e> {
    auto s = dot<d>(Q, merge<cached, block, slot>(K)) / sqrt(d);
    return dot<cached>(softmax<cached>(s), Merged(V));
  });
  return lines_of(codegen::make_program(k));
}

TEST_CASE("slips: values that are merged in another order than their keys") {
  CHECK(mentions(of_pages<[](auto V) { return merge<cached, slot, block>(V); }>(),
                 "joins the parts of cached in another order than"));
  CHECK(of_pages<[](auto V) { return merge<cached, block, slot>(V); }>().empty());
}

template <auto Affine>
std::string of_norm() {
  const auto k = kernel<"k">([](in<"X", batch, seq, d> X, param<"gamma", d> gamma,
                                param<"beta", d> beta) -> out<"Y", batch, seq, d> {
    auto centred = X - mean<d>(X);
    return Affine(centred * rsqrt(mean<d>(centred * centred) + 1e-5), gamma, beta);
  });
  return lines_of(codegen::make_program(k));
}

TEST_CASE("slips: gamma and beta exchanged") {
  CHECK(mentions(of_norm<[](auto x, auto gamma, auto beta) { return x * beta + gamma; }>(),
                 "beta is a factor and gamma is added; did you exchange them?"));
  CHECK(of_norm<[](auto x, auto gamma, auto beta) { return x * gamma + beta; }>().empty());
}

constexpr axis<"y", 8> y;
constexpr axis<"x", 8> x;
constexpr alias<"y2", y> y2;
constexpr alias<"x2", x> x2;
constexpr axis<"offsets", 225> offsets;
template <auto At>
std::string of_window() {
  const auto k = kernel<"k">([](in<"S", batch, y, x, y2, x2> S,
                                param<"T", offsets> T) -> out<"W", batch, y, x, y2, x2> {
    return softmax<y2, x2>(S + take<offsets>(T, At(index(y2) - index(y), index(x2) - index(x))));
  });
  return lines_of(codegen::make_program(k));
}

TEST_CASE("slips: two distances that share rows of a table") {
  CHECK(mentions(of_window<[](auto dy, auto dx) { return (dy + 7) * 8 + dx + 7; }>(),
                 "one has 15 values, but the other is multiplied by 8; did you mean by 15?"));
  CHECK(of_window<[](auto dy, auto dx) { return (dy + 7) * 15 + dx + 7; }>().empty());
}

TEST_CASE("slips: sinks that earlier queries must not see") {
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto near = causal<seq, kv> and sliding_window<seq, kv>(128);
                   return scaled_dot_product<d8, kv>(Q, K, V, near or index(kv) < 4);
                 }>(),
                 "queries before 4 see keys after them, too"));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto near = sliding_window<seq, kv>(128) or index(kv) < 4;
          return scaled_dot_product<d8, kv>(Q, K, V, causal<seq, kv> and near);
        }>() == "");
}

constexpr auto chunk_of = [](auto position) { return cast<i32>(index(position) / 64); };

TEST_CASE("slips: blocks that a causal mask implies") {
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto same = chunk_of(seq) >= chunk_of(kv);
                   return scaled_dot_product<d8, kv>(Q, K, V, causal<seq, kv> and same);
                 }>(),
                 "is true wherever index(kv) <= index(seq) is; did you mean ==?"));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto same = chunk_of(seq) == chunk_of(kv);
          return scaled_dot_product<d8, kv>(Q, K, V, causal<seq, kv> and same);
        }>() == "");
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          return scaled_dot_product<d8, kv>(Q, K, V, chunk_of(seq) >= chunk_of(kv));
        }>() == "");
}

constexpr axis<"frame"> frame;
template <auto Mask>
std::string of_two_sequences() {
  return slips_in(
      kernel<"k">([](in<"X", seq, e> X, in<"audio", frame, e> audio, param<"Wq", e, d> Wq,
                     param<"Wk", e, d> Wk, param<"Wv", e, r> Wv) -> out<"O", seq, r> {
        auto scores = dot<d>(dot<e>(X, Wq), dot<e>(audio, Wk)) / sqrt(d);
        return dot<frame>(softmax<frame>(Mask(scores)), dot<e>(audio, Wv));
      }));
}

TEST_CASE("slips: a causal mask between two sequences") {
  CHECK(
      mentions(of_two_sequences<[](auto s) { return mask(s, causal<seq, frame, align::first>); }>(),
               "orders positions of two sequences: keys are made of audio, queries of X"));
  CHECK(of_two_sequences<[](auto s) { return s; }>() == "");
  CHECK(of_two_sequences<[](auto s) {
          return mask(s, index(frame) <= index(seq) + 3);  // wait-3
        }>() == "");
}

constexpr axis<"distances", 15> distances;
template <auto Sum>
std::string of_relative_keys() {
  return slips_in(kernel<"k">([](in<"Q", seq, d> Q, in<"K", kv, d> K, in<"V", kv, r> V,
                                 param<"R", distances, d> R) -> out<"O", seq, r> {
    auto far = min(max(index(seq) - index(kv) + 7, 0), 14);
    auto scores = Sum(dot<d>(Q, K), take<distances>(dot<d>(Q, R), far));
    return dot<kv>(softmax<kv>(scores), V);
  }));
}

TEST_CASE("slips: the root divides one of two products") {
  CHECK(mentions(of_relative_keys<[](auto s, auto r) { return s + r / sqrt(d); }>(),
                 "dot(Q, R) alone is divided by the root of d; did you mean to divide the sum?"));
  CHECK(of_relative_keys<[](auto s, auto r) { return (s + r) / sqrt(d); }>() == "");
}

constexpr axis<"vocabulary", 40> vocabulary;
template <auto Sum>
std::string of_embedding() {
  return slips_in(kernel<"k">([](in<"tokens", i32, seq> tokens, param<"words", vocabulary, d> words,
                                 param<"places", seq, d> places) -> out<"X", seq, d> {
    return Sum(take<vocabulary>(words, tokens), places);
  }));
}

TEST_CASE("slips: the root multiplies words, not positions") {
  CHECK(mentions(of_embedding<[](auto w, auto p) { return (w + p) * sqrt(64); }>(),
                 "positions places are multiplied by 8, too"));
  CHECK(of_embedding<[](auto w, auto p) { return w * sqrt(64) + p; }>() == "");
}

constexpr batch_axis<"heads", 8> heads;
template <auto Slope>
std::string of_slopes() {
  return slips_in(kernel<"k">([](in<"Q", heads, seq, d> Q, in<"K", heads, kv, d> K,
                                 in<"V", heads, kv, r> V) -> out<"O", heads, seq, r> {
    auto scores = dot<d>(Q, K) / sqrt(d) + alibi<seq, kv>(Slope());
    return dot<kv>(softmax<kv>(mask(scores, causal<seq, kv>)), V);
  }));
}

TEST_CASE("slips: the slope of the first head") {
  CHECK(mentions(of_slopes<[] { return pow(2.0, index(heads) * -8.0 / size(heads)); }>(),
                 "the slope of the first of heads is 1; did you mean index(heads) + 1?"));
  CHECK(of_slopes<[] { return pow(2.0, (index(heads) + 1) * -8.0 / size(heads)); }>() == "");
}

template <auto Next>
std::string of_gated_state() {
  return slips_in(kernel<"k">(
      [](in<"F", seq, d> F, in<"X", seq, d> X, param<"lower", d> lower) -> out<"H", seq, d> {
        auto [H, last] = scan<seq>(
            zeros<d>(),
            [](auto h, auto f, auto x) {
              auto next = Next(h, f, x);
              return std::pair{next, next};
            },
            lower + (1 - lower) * sigmoid(F), X);
        return H;
      }));
}

TEST_CASE("slips: one gate for the state and for what is added") {
  CHECK(mentions(of_gated_state<[](auto h, auto f, auto x) { return h * f + f * x; }>(),
                 "on both terms; did you mean 1 less it on one?"));
  CHECK(of_gated_state<[](auto h, auto f, auto x) { return h * f + (1 - f) * x; }>() == "");
}

template <auto Keys>
std::string of_delta_rule() {
  return slips_in(kernel<"k">([](in<"Q", seq, d> Q, in<"K", seq, d> K, in<"V", seq, r> V,
                                 in<"b", seq> b) -> out<"O", seq, r> {
    auto read = gated_delta_rule<d, seq, r>(zeros<d, r>(), unit_length<d>(Q), Keys(K), V,
                                            -softplus(b), sigmoid(b));
    return read.result;
  }));
}

TEST_CASE("slips: a recurrence whose keys have unit length over positions") {
  CHECK(mentions(of_delta_rule<[](auto k) { return unit_length<seq>(k); }>(),
                 "has unit length over seq, and a step of the scan over seq knows no later"));
  CHECK(of_delta_rule<[](auto k) { return unit_length<d>(k); }>() == "");
}

TEST_CASE("slips: the difference of two maps is one of weights") {
  constexpr auto differential = [](auto f) {
    return slips_in(kernel<"k">([](in<"Q", seq, d8> Q, in<"R", seq, d8> R, in<"K", kv, d8> K,
                                   in<"L", kv, d8> L, in<"V", kv, e4> V,
                                   param<"lambda"> lambda) -> out<"O", seq, e4> {
      return dot<kv>(decltype(f){}(dot<d8>(Q, K) / sqrt(d8), dot<d8>(R, L) / sqrt(d8), lambda), V);
    }));
  };
  CHECK(mentions(
      differential([](auto a, auto b, auto lambda) { return softmax<kv>(a - lambda * b); }),
      "did you mean softmax<kv> of each, and the difference of the weights?"));
  CHECK(differential([](auto a, auto b, auto lambda) {
          return softmax<kv>(a) - lambda * softmax<kv>(b);
        }) == "");
}

TEST_CASE("slips: a mask that leaves each its own position") {
  const auto loss = [](auto keep) {
    return slips_in(kernel<"k">([](in<"Z", seq, d8> Z) -> out<"total", seq> {
      auto z = unit_length<d8>(Z);
      return logsumexp<kv>(mask(dot<d8>(z, rename<seq, kv>(z)) / 0.5, decltype(keep){}()));
    }));
  };
  CHECK(mentions(loss([] { return index(seq) == index(kv); }), "leaves one position for each"));
  CHECK(loss([] { return index(seq) != index(kv); }) == "");
}

TEST_CASE("slips: documents or positions") {
  const auto packed = [](auto keep) {
    return slips_in(
        kernel<"k">([](in<"Q", seq, d8> Q, in<"K", kv, d8> K, in<"V", kv, e4> V,
                       in<"id", i32, seq> id, in<"image", i32, seq> image) -> out<"O", seq, e4> {
          auto all = decltype(keep){}(id == rename<seq, kv>(id), image == rename<seq, kv>(image));
          return dot<kv>(softmax<kv>(mask(dot<d8>(Q, K) / sqrt(d8), all)), V);
        }));
  };
  CHECK(mentions(packed([](auto doc, auto) { return doc || index(kv) <= index(seq); }),
                 "id == rename<seq, kv>(id) shows keys after the query, which"));
  CHECK(packed([](auto doc, auto) { return doc && index(kv) <= index(seq); }) == "");
  CHECK(packed([](auto, auto image) { return image || index(kv) <= index(seq); }) == "");
}

}  // namespace qkv::testing::slips
