// SPDX-License-Identifier: BSL-1.0
// Slips that only the values of numbers show are found, and their right neighbours are not.
#include "codegen/program/slips.hpp"

#include <qkv/dsl.hpp>

#include <limits>
#include <string>

#include "codegen/program/from_graph.hpp"
#include "codegen/program/position_sets.hpp"
#include "tests/catch.hpp"
#include "tests/program/slip_kernels.hpp"
#include "tests/program/slip_lines.hpp"

namespace qkv::testing::slips {
namespace {

constexpr batch_axis<"batch"> batch;
constexpr axis<"d_v", 32> d_v;
constexpr axis<"table", 129> table;

constexpr double none = -std::numeric_limits<double>::infinity();

using S_ = in<"S", batch, seq, kv>;

// The slips of softmax<kv>(Formula(S)).
template <auto Formula>
std::string of_scores() {
  const auto k =
      kernel<"k">([](S_ S) -> out<"W", batch, seq, kv> { return softmax<kv>(Formula(S)); });
  return lines_of(codegen::make_program(k));
}
template <auto Keep>
std::string of_mask() {
  return of_scores<[](auto S) { return mask(S, Keep()); }>();
}

// Returns "never", "always" or "some": how often mask() keeps a position, over all sizes.
template <auto Keep>
std::string truth() {
  const auto k = kernel<"k">([](S_ S, in<"n", i32> n) -> out<"W", batch, seq, kv> {
    return softmax<kv>(mask(S, Keep(n)));
  });
  const codegen::program p = codegen::make_program(k);
  codegen::node_id n = p.outputs[0];
  while (p[n].kind != core::op::mask) n = p[n].in[0];
  return positions_where(p, p[n].in[1], true).empty()    ? "never"
         : positions_where(p, p[n].in[1], false).empty() ? "always"
                                                         : "some";
}

template <auto Keep>
std::string of_ids() {
  const auto k = kernel<"k">([](S_ S, in<"id", i32, batch, seq> id) -> out<"W", batch, seq, kv> {
    return softmax<kv>(mask(S, Keep(id, rename<seq, kv>(id))));
  });
  return lines_of(codegen::make_program(k));
}

template <auto Clamp>
std::string of_positions() {
  const auto k = kernel<"k">([](S_ S, param<"T", table> T) -> out<"W", batch, seq, kv> {
    return softmax<kv>(S + take<table>(T, Clamp(index(kv) - index(seq) + 64)));
  });
  return lines_of(codegen::make_program(k));
}

template <auto Of>
std::string of_total() {
  const auto k = kernel<"k">([
  ](S_ S, in<"V", batch, kv, d_v> V) -> outs<out<"O", batch, seq, d_v>, out<"lse", batch, seq>> {
    auto masked = mask(S, causal<seq, kv>);
    return {dot<kv>(softmax<kv>(masked), V), logsumexp<kv>(Of(S, masked))};
  });
  return lines_of(codegen::make_program(k));
}

template <auto Next>
std::string of_seeds() {
  const auto k = kernel<"k">(
      [](S_ S, in<"V", batch, kv, d_v> V, in<"seed", i32> seed) -> out<"O", batch, seq, d_v> {
        return dropout<0.1>(dot<kv>(dropout<0.1>(softmax<kv>(S), seed), V), Next(seed));
      });
  return lines_of(codegen::make_program(k));
}

template <auto Clamp>
std::string of_clamp() {
  const auto k = kernel<"k">([](S_ S, param<"T", table> T) -> out<"W", batch, seq, kv> {
    return softmax<kv>(S + take<table>(T, Clamp(index(kv) - index(seq))));
  });
  return lines_of(codegen::make_program(k));
}

constexpr axis<"d", 64> d;
constexpr axis<"half", 32> half;
template <auto Other>
std::string of_halves() {
  const auto k = kernel<"k">([](in<"X", batch, seq, d> X) -> out<"Y", batch, seq, half> {
    return slice<d, half>(X, 0) * sigmoid(Other(X));
  });
  return lines_of(codegen::make_program(k));
}

constexpr axis<"hidden", 16> hidden;
template <auto Bend>
std::string of_sum() {
  const auto k = kernel<"k">([](in<"q", batch, seq, hidden> q, in<"k", batch, kv, hidden> k,
                                param<"v", hidden> v) -> out<"W", batch, seq, kv> {
    return softmax<kv>(dot<hidden>(Bend(broadcast<kv>(q) + broadcast<seq>(k)), v));
  });
  return lines_of(codegen::make_program(k));
}

}  // namespace

TEST_CASE("position sets: which conditions are constant over all sizes") {
  CHECK(truth<[](auto) { return (index(kv) >= size(seq)); }>() == "never");
  CHECK(truth<[](auto) { return index(kv) + 1 <= size(kv); }>() == "always");
  CHECK(truth<[](auto) { return index(kv) < size(kv) - 1; }>() == "some");
  CHECK(truth<[](auto) { return (index(kv) >= 0); }>() == "always");
  CHECK(truth<[](auto) { return !(index(kv) < 0); }>() == "always");
  CHECK(truth<[](auto) { return index(kv) - index(seq) < size(kv); }>() == "always");
  CHECK(truth<[](auto) { return (index(kv) - index(seq) > -size(kv) + 1); }>() == "some");
  CHECK(truth<[](auto) { return causal<seq, kv>; }>() == "some");
  CHECK(truth<[](auto) { return (causal<seq, kv> && index(kv) > index(seq)); }>() == "never");
  CHECK(truth<[](auto) { return causal<seq, kv> && index(kv) == index(seq); }>() == "some");
  CHECK(truth<[](auto) { return (causal<seq, kv> || index(kv) >= index(seq)); }>() == "always");
  CHECK(truth<[](auto) { return (causal<seq, kv> || index(kv) > index(seq) + 1); }>() == "some");
  CHECK(truth<[](auto) { return index(kv) == index(seq) && index(kv) != index(seq); }>() ==
        "never");
  CHECK(truth<[](auto) { return sliding_window<seq, kv>(0); }>() == "never");
  CHECK(truth<[](auto) { return sliding_window<seq, kv>(1); }>() == "some");
  CHECK(truth<[](auto n) { return (index(kv) < n && index(kv) >= n); }>() == "never");
  CHECK(truth<[](auto n) { return (index(kv) < n && index(kv) >= n - 1); }>() == "some");
  CHECK(truth<[](auto n) { return 2 * n < index(kv) && index(kv) <= n + n; }>() == "never");
}

TEST_CASE("slips: conditions that are always or never true") {
  CHECK(of_mask<[] { return index(kv) < size(seq); }>() ==
        "mask(S, index(kv) < size(seq)): index(kv) < size(seq) is always true; did you mean a "
        "length of the call? if it is meant, let<..>(..)");
  CHECK(of_mask<[] { return (causal<seq, kv> && index(kv) > index(seq)); }>() ==
        "mask(S, (index(kv) <= index(seq)) and (index(kv) > index(seq))): (index(kv) <= "
        "index(seq)) and (index(kv) > index(seq)) is never true; if it is meant, let<..>(..)");
  CHECK(of_mask<[] { return sliding_window<seq, kv>(-1); }>() ==
        "mask(S, abs(index(seq) - index(kv)) < -1): abs(index(seq) - index(kv)) < -1 is never "
        "true; if it is meant, let<..>(..)");
  CHECK(of_mask<[] { return causal<seq, kv> && index(kv) < size(seq); }>() ==
        "mask(S, (index(kv) <= index(seq)) and (index(kv) < size(seq))): index(kv) < size(seq) is "
        "always true; did you mean a length of the call? if it is meant, let<..>(..)");
  CHECK(of_mask<[] { return let<"all">(index(kv) < size(seq)); }>().empty());
  CHECK(of_mask<[] { return causal<seq, kv> && index(kv) < size(kv) - 1; }>().empty());
  CHECK(of_mask<[] { return (causal<seq, kv> && index(kv) >= 0); }>().empty());
  CHECK(of_mask<[] { return index(kv) >= 0; }>() ==
        "mask(S, index(kv) >= 0): index(kv) >= 0 is always true; if it is meant, let<..>(..)");
  CHECK(of_mask<[] { return prefix<seq, kv>(0); }>().empty());
  CHECK(of_mask<[] { return global_window<seq, kv>(0, 16); }>().empty());
}

TEST_CASE("slips: the taps of a convolution") {
  const auto k = kernel<"k">([](in<"x", seq, d_v> x) -> out<"y", seq, d_v> {
    const auto tap = [&](int lag) {
      return where(index(seq) >= lag, take<seq>(x, index(seq) - lag), 0.0);
    };
    return tap(0) * 0.5 + tap(1) * 0.25 + tap(2) * 0.125;
  });
  CHECK(lines_of(codegen::make_program(k)) == "");
}

TEST_CASE("slips: additive masks that hide the wrong side") {
  CHECK(
      of_scores<[](auto S) { return S + where(causal<seq, kv>, -1e9, 0); }>() ==
      "S + where(index(kv) <= index(seq), -1e+09, 0): where(index(kv) <= index(seq), -1e+09, 0) "
      "hides every key up to the query; did you exchange its values? if it is meant, let<..>(..)");
  CHECK(of_scores<[](auto S) { return S + cast<f32>(causal<seq, kv>) * -1e9; }>() ==
        "S + (f32(index(kv) <= index(seq)) * -1e+09): f32(index(kv) <= index(seq)) * -1e+09 hides "
        "every key up to the query; did you exchange its values? if it is meant, let<..>(..)");
  CHECK(of_scores<[](auto S) { return S - where(causal<seq, kv>, 0, -1e9); }>() ==
        "S - where(index(kv) <= index(seq), 0, -1e+09): +1e+09 where index(kv) <= index(seq) is "
        "false leaves nothing of the others; did you mean -1e+09? if it is meant, let<..>(..)");
  CHECK(of_scores<[](auto S) { return S + where(causal<seq, kv>, 0, 1e9); }>() ==
        "S + where(index(kv) <= index(seq), 0, 1e+09): +1e+09 where index(kv) <= index(seq) is "
        "false leaves nothing of the others; did you mean -1e+09? if it is meant, let<..>(..)");
  CHECK(of_scores<[](auto S) { return S + where(causal<seq, kv>, 0, -1e9); }>().empty());
  CHECK(of_scores<[](auto S) { return S + where(causal<seq, kv>, 0, none); }>().empty());
  CHECK(of_scores<[](auto S) { return S + (1 - cast<f32>(causal<seq, kv>)) * -1e4; }>().empty());
  CHECK(of_scores<[](auto S) { return S - (1 - cast<f32>(causal<seq, kv>)) * 1e4; }>().empty());
  CHECK(of_scores<[](auto S) { return S + where(index(kv) == index(seq), -1e9, 0); }>().empty());
  CHECK(of_scores<[](auto S) { return S + where(causal<seq, kv>, 0.5, -0.5); }>().empty());
}

TEST_CASE("slips: numbers that hide no key") {
  CHECK(of_scores<[](auto S) { return S + where(causal<seq, kv>, 0, -1e-9); }>() ==
        "S + where(index(kv) <= index(seq), 0, -1e-09): -1e-09 hides no key; did you mean -1e9? if "
        "it is meant, let<..>(..)");
  CHECK(of_scores<[](auto S) { return where(causal<seq, kv>, S, S - 1e-9); }>() ==
        "where(index(kv) <= index(seq), S, S - 1e-09): -1e-09 hides no key; did you mean -1e9? "
        "if it is meant, let<..>(..)");
  CHECK(of_scores<[](auto S) { return where(causal<seq, kv>, S, S - 0.5); }>().empty());
  CHECK(of_scores<[](auto S) { return let<"nudge">(where(causal<seq, kv>, S, S - 1e-9)); }>()
            .empty());
}

TEST_CASE("slips: masks that show the first query no key") {
  CHECK(of_mask<[] { return index(kv) < index(seq); }>() ==
        "mask(S, index(kv) < index(seq)): index(kv) < index(seq) shows the first query no key; did "
        "you mean to show each query its own? if it is meant, let<..>(..)");
  CHECK(
      mentions(of_mask<[] { return (index(seq) - index(kv) > 128); }>(), "the first query no key"));
  CHECK(mentions(of_mask<[] { return causal<seq, kv> && index(kv) != index(seq); }>(),
                 "the first query no key"));
  CHECK(of_mask<[] { return index(kv) < index(seq) || index(kv) == 0; }>().empty());
  CHECK(mentions(of_mask<[] { return causal<seq, kv> || index(seq) < 4; }>(),
                 "see the keys after them, too; did you mean index(kv) in place of index(seq)?"));
  CHECK(of_mask<[] { return causal<seq, kv> || index(kv) < 4; }>().empty());
  CHECK(of_mask<[] { return causal<seq, kv> || index(batch) < 1; }>().empty());
  CHECK(of_mask<[] { return causal<seq, kv> || let<"global">(index(seq) < 4); }>().empty());
  CHECK(of_mask<[] { return (causal<seq, kv> || index(seq) >= 4); }>().empty());
  CHECK(of_mask<[] { return let<"past">(index(kv) < index(seq)); }>().empty());
  const auto with_sink =
      kernel<"k">([](S_ S, in<"V", batch, kv, d_v> V) -> out<"O", batch, seq, d_v> {
        return attend_with_sink<kv>(mask(S, index(kv) < index(seq)), V, 0.5f);
      });
  CHECK(lines_of(codegen::make_program(with_sink)).empty());
}

TEST_CASE("slips: masks that hide the past") {
  CHECK(of_mask<[] { return index(seq) <= index(kv); }>() ==
        "mask(S, index(seq) <= index(kv)): index(seq) <= index(kv) hides every key before the "
        "query; did you exchange its operands? if it is meant, let<..>(..)");
  CHECK(mentions(of_mask<[] { return (index(kv) > index(seq)); }>(), "every key before the query"));
  CHECK(of_mask<[] { return index(seq) <= index(kv) && index(kv) < index(seq) + 16; }>().empty());
  CHECK(of_mask<[] { return index(seq) <= index(kv) || index(kv) == 0; }>().empty());
  CHECK(of_mask<[] { return let<"future">(index(seq) <= index(kv)); }>().empty());
  CHECK(of_mask<[] { return index(kv) >= index(seq) && index(kv) <= index(seq) + size(seq); }>()
            .empty());
  const auto both_directions =
      kernel<"k">([](S_ S) -> outs<out<"P", batch, seq, kv>, out<"F", batch, seq, kv>> {
        return {softmax<kv>(mask(S, causal<seq, kv>)),
                softmax<kv>(mask(S, index(seq) <= index(kv)))};
      });
  CHECK(lines_of(codegen::make_program(both_directions)).empty());
  const auto named = kernel<"k">([](S_ S) -> out<"P_backward", batch, seq, kv> {
    return softmax<kv>(mask(S, index(kv) >= index(seq)));
  });
  CHECK(lines_of(codegen::make_program(named)).empty());
  const auto of_reverse =
      kernel<"k">([](in<"S_reverse", batch, seq, kv> S) -> out<"P", batch, seq, kv> {
        return softmax<kv>(mask(S, index(kv) >= index(seq)));
      });
  CHECK(lines_of(codegen::make_program(of_reverse)).empty());
}

TEST_CASE("slips: masks that hide a query's own document") {
  CHECK(of_ids<[](auto q, auto k) { return causal<seq, kv> && q != k; }>() ==
        "mask(S, (index(kv) <= index(seq)) and (id != rename<seq, kv>(id))): id != rename<seq, "
        "kv>(id) hides from each query its own key and those of equal id; did you mean ==? if it "
        "is meant, let<..>(..)");
  CHECK(of_ids<[](auto q, auto k) { return causal<seq, kv> && q == k; }>().empty());
  CHECK(of_ids<[](auto q, auto k) { return causal<seq, kv> && let<"other">(q != k); }>().empty());
}

TEST_CASE("slips: whole numbers that became 0, and clamps to one value") {
  CHECK(of_scores<[](auto S) { return S * (1 / 8); }>() ==
        "S * 0: the factor is the whole number 0; did you mean a fraction, as 1.0 / 8? if it "
        "is meant, 0.0");
  CHECK(of_scores<[](auto S) { return pow(S, 1 / 2); }>() ==
        "pow(S, 0): the exponent is the whole number 0; did you mean a fraction, as 1.0 / 8? "
        "if it is meant, 0.0");
  CHECK(of_scores<[](auto S) { return S * 0.0; }>().empty());
  CHECK(of_scores<[](auto S) { return S * 0 + index(kv); }>().empty());
  CHECK(of_positions<[](auto d) { return max(min(d, 0), 128); }>() ==
        "max(min((index(kv) - index(seq)) + 64, 0), 128): is 128 at every position; did you "
        "exchange min and max? if it is meant, 128");
  CHECK(of_positions<[](auto d) { return min(max(d, 0), 128); }>().empty());
}

TEST_CASE("slips: a logsumexp of other scores, and one seed for two dropouts") {
  CHECK(of_total<[](auto S, auto) { return S; }>() ==
        "logsumexp<kv>(S): adds up keys that mask(S, index(kv) <= index(seq)) hides from "
        "softmax<kv>(mask(S, index(kv) <= index(seq))); did you mean logsumexp of the masked "
        "scores? if it is meant, let<..>(..)");
  CHECK(of_total<[](auto, auto masked) { return masked; }>().empty());
  CHECK(of_seeds<[](auto seed) { return seed; }>() ==
        "dot(.. * .., V) * f32(uniform<batch, seq, d_v>(seed) >= 0.1): a dropout before it draws "
        "by the same seed; did you mean seed + 1? if it is meant, seed + 0");
  CHECK(of_seeds<[](auto seed) { return seed + 1; }>().empty());
}

TEST_CASE("slips: bounds that the other conditions imply") {
  CHECK(of_mask<[] { return causal<seq, kv> && index(kv) - index(seq) < 256; }>() ==
        "mask(S, .. and ..): (index(kv) - index(seq)) < 256 is always true where the other "
        "conditions are; did you exchange its operands? if it is meant, let<..>(..)");
  CHECK(of_mask<[] { return causal<seq, kv> && index(seq) - index(kv) < 256; }>().empty());
  CHECK(of_mask<[] { return causal<seq, kv> && sliding_window<seq, kv>(256); }>().empty());
  CHECK(of_mask<[] { return causal<seq, kv> && let<"near">(index(kv) - index(seq) < 256); }>()
            .empty());
}

TEST_CASE("slips: positions before the first row of a table") {
  CHECK(of_clamp<[](auto d) { return min(max(d, -64), 64); }>() ==
        "take<table>(T, min(max(index(kv) - index(seq), -64), 64)): positions from -64 to -1 lie "
        "before the first row; did you mean + 64? if it is meant, max(.., 0)");
  CHECK(of_clamp<[](auto d) { return min(max(d, -64), 64) + 64; }>().empty());
  CHECK(of_clamp<[](auto d) { return max(min(d, 64), 0); }>().empty());
}

TEST_CASE("slips: positions beyond the last row of a table") {
  CHECK(of_clamp<[](auto d) { return min(max(d, -128), 128) + 128; }>() ==
        "take<table>(T, min(max(index(kv) - index(seq), -128), 128) + 128): positions up to 256 "
        "are taken of table, which has 129 rows; did you mean a clamp to 128? if it is meant, "
        "let<..>(..)");
  CHECK(mentions(of_clamp<[](auto d) { return 128 + min(max(d, -128), 128); }>(),
                 "positions up to 256 are taken of table, which has 129 rows"));
  CHECK(of_clamp<[](auto d) { return let<"far">(min(max(d, -128), 128) + 128); }>().empty());
}

TEST_CASE("slips: one half is taken twice") {
  CHECK(of_halves<[](auto X) { return slice<d, half>(X, 0); }>() ==
        "slice<d, half>(X, 0): positions from 0 of d are taken a second time, and others "
        "never; did you mean another first position? if it is meant, let<..>(..)");
  CHECK(of_halves<[](auto X) { return slice<d, half>(X, 32); }>().empty());
  CHECK(of_halves<[](auto X) { return let<"gate">(slice<d, half>(X, 0)); }>().empty());
}

TEST_CASE("slips: terms that cancel, and biases for distant keys") {
  CHECK(of_sum<[](auto x) { return x; }>() ==
        "softmax<kv>(dot(q + k, v)): q of dot(q + k, v) does not vary along kv and cancels; did "
        "you leave out tanh? if it is meant, let<..>(..)");
  CHECK(of_sum<[](auto x) { return x * 0.5; }>() ==
        "softmax<kv>(dot((q + k) * 0.5, v)): q of dot((q + k) * 0.5, v) does not vary along kv and "
        "cancels; did you leave out tanh? if it is meant, let<..>(..)");
  CHECK(of_sum<[](auto x) { return tanh(x); }>().empty());
  CHECK(of_sum<[](auto x) { return let<"sum">(x); }>().empty());
  CHECK(of_scores<[](auto S) { return S + 0.5 * (index(seq) - index(kv)); }>() ==
        "S + (0.5 * (index(seq) - index(kv))): 0.5 * (index(seq) - index(kv)) grows with the "
        "distance of a key before the query; did you mean to subtract it? if it is meant, "
        "let<..>(..)");
  CHECK(of_scores<[](auto S) { return S - 0.5 * (index(kv) - index(seq)); }>() ==
        "S - (0.5 * (index(kv) - index(seq))): 0.5 * (index(kv) - index(seq)) grows with the "
        "distance of a key before the query; did you mean to add it? if it is meant, let<..>(..)");
  CHECK(
      of_scores<[](auto S) { return mask(S - 0.5 * (index(seq) - index(kv)), causal<seq, kv>); }>()
          .empty());
  CHECK(
      of_scores<[](auto S) { return mask(S + 0.5 * (index(kv) - index(seq)), causal<seq, kv>); }>()
          .empty());
  CHECK(of_scores<[](auto S) { return S - 0.5 * abs(index(kv) - index(seq)); }>().empty());
}

TEST_CASE("slips: what is divided, and by the sum of what") {
  // softmax by hand
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto s = dot<d8>(Q, K) / sqrt(d8);
                   return dot<kv>(exp(s - max<kv>(s)) / sum<kv>(s), V);
                 }>(),
                 "is divided by a sum of dot(Q, K) / 2.82843; did you mean the sum of exp("));
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto w = dot<d8>(relu(Q), relu(K));
                   return dot<kv>(mask(w, causal<seq, kv>), V) / (sum<kv>(w) + 1e-6);
                 }>(),
                 "is divided by a sum of dot(relu(Q), relu(K)); did you mean the sum of mask("));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto w = mask(dot<d8>(relu(Q), relu(K)), causal<seq, kv>);
          return dot<kv>(w, V) / (sum<kv>(w) + 1e-6);
        }>()
            .empty());
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto w = dot<d8>(relu(Q), relu(K));
          return let<"insists">(dot<kv>(mask(w, causal<seq, kv>), V) / (sum<kv>(w) + 1e-6));
        }>()
            .empty());
  // linear attention
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto q = elu_plus_one(Q);
                   auto k = elu_plus_one(K);
                   return dot<kv>(dot<d8>(q, k), V) / dot<d8>(q, sum<kv>(K));
                 }>(),
                 "but the divisor adds up K; did you mean sum<kv>("));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto q = elu_plus_one(Q);
          auto k = elu_plus_one(K);
          return dot<kv>(dot<d8>(q, k), V) / dot<d8>(q, sum<kv>(k));
        }>()
            .empty());
  // layer normalisation
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
                   return (x - mean<e4>(x)) * rsqrt(mean<e4>(x * x) + 1e-5);
                 }>(),
                 "is centred, but what divides it is the mean of"));
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
                   auto centred = x - mean<e4>(x);
                   return centred / (mean<e4>(centred * centred) + 1e-5);
                 }>(),
                 "is divided by the mean of its square; did you mean "));
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
                   return x * (mean<e4>(x * x) + 1e-5);
                 }>(),
                 "is multiplied by the mean of its square; did you mean "));
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
                   return x * rsqrt(mean<e4>(x) + 1e-5);
                 }>(),
                 "may be negative, so that its mean has no root; did you mean mean<e>("));
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
                   return x / sqrt(mean<e4>(x) + 1e-5);
                 }>(),
                 "may be negative, so that its mean has no root; did you mean mean<e>("));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
          return x / sqrt(max(mean<e4>(x), 1e-5f));
        }>()
            .empty());
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto x = exp(dot<kv>(softmax<kv>(dot<d8>(Q, K)), V));
          return x / sqrt(mean<e4>(x) + 1e-5);
        }>()
            .empty());
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
                   return x * rsqrt(mean<e4>(x * x) - mean<e4>(x) + 1e-5);
                 }>(),
                 "the variance takes off the square of mean<e>("));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
          auto centre = mean<e4>(x);
          return (x - centre) * rsqrt(mean<e4>(x * x) - centre * centre + 1e-5);
        }>()
            .empty());
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
          auto centred = x - mean<e4>(x);
          return centred * rsqrt(mean<e4>(centred * centred) + 1e-5);
        }>()
            .empty());
}

TEST_CASE("slips: sums divided by a number of other positions") {
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto w = relu(dot<d8>(Q, K));
                   return dot<kv>(w, V) * (sum<kv>(w) / size(e4));
                 }>(),
                 "adds up kv, but is divided by size(e); did you mean size(kv)?"));
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
                   return cumsum<seq>(x) / size(seq);
                 }>(),
                 "adds up index(seq) + 1 positions, not size(seq); did you mean "));
  constexpr auto recurrent = []<class Total>(Total) {
    const auto k = kernel<"k">([](in<"k", seq, d8> k, in<"v", seq, d8> v) -> out<"O", seq, d8> {
      auto w = exp(k);
      return cumsum<seq>(w * v) / Total{}(w, v);
    });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(recurrent([](auto w, auto) { return sum<seq>(w); }),
                 "ends at each position of seq, but sum<seq>(exp(k)) adds up all; did you "
                 "mean cumsum<seq>(exp(k))?"));
  CHECK(recurrent([](auto w, auto) { return cumsum<seq>(w); }).empty());
  CHECK(recurrent([](auto w, auto) { return let<"insists">(sum<seq>(w)); }).empty());
  CHECK(recurrent([](auto w, auto v) { return sum<seq>(w * v); }).empty());  // a share of the whole
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto x = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
          return cumsum<seq>(x) / (index(seq) + 1);
        }>()
            .empty());
}

TEST_CASE("slips: one seed for two dropouts side by side") {
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto O = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
                   return dropout<0.1>(O, 7) + dropout<0.1>(tanh(O), 7);
                 }>(),
                 "a dropout before it draws by the same seed"));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto O = dot<kv>(softmax<kv>(dot<d8>(Q, K)), V);
          return dropout<0.1>(O, 7) + dropout<0.1>(tanh(O), 8);
        }>()
            .empty());
}

TEST_CASE("slips: a term twice, and sigmoids of too much") {
  CHECK(of_scores<[](auto S) { return S + 0.5 * S + S; }>() ==
        "(S + (0.5 * S)) + S: S is added twice; if it is meant, 2 * S");
  CHECK(of_scores<[](auto S) { return 2 * S + 0.5 * S; }>().empty());
  CHECK(of_scores<[](auto S) { return let<"sum">(S + 0.5 * S + S); }>().empty());
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   return sigmoid_attention<kv>(dot<d8>(Q, K), V, log(size(kv)));
                 }>(),
                 "log(size(kv)) is added, so the weights add up to more than the number of keys; "
                 "did you mean -log(size(kv))?"));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          return sigmoid_attention<kv>(dot<d8>(Q, K), V, -log(size(kv)));
        }>()
            .empty());
}

TEST_CASE("slips: a loss of two directions, both along the same axis") {
  constexpr auto loss = [](auto other_half) {
    return slips_in(kernel<"k">([](in<"S", seq, d8> S, in<"own", seq> own) -> out<"L"> {
      return mean<seq>(logsumexp<d8>(S) - own) + decltype(other_half){}(S, own);
    }));
  };
  CHECK(
      mentions(loss([](auto S, auto own) { return mean<seq>(logsumexp<d8>(S)) - mean<seq>(own); }),
               "did you mean logsumexp<seq> in one of them?"));
  CHECK(loss([](auto S, auto own) { return mean<d8>(logsumexp<seq>(S)) - mean<seq>(own); }) == "");
  CHECK(loss([](auto S, auto) { return 0.01 * mean<seq>(logsumexp<d8>(S) * logsumexp<d8>(S)); }) ==
        "");
}

TEST_CASE("slips: decays that grow") {
  constexpr auto state_by = []<class Gate>(Gate) {
    const auto k = kernel<"k">([](in<"X", seq, d8> X, in<"g", seq> g) -> out<"O", seq, d8> {
      const auto step = [](auto S, auto x, auto g) { return S * Gate{}(g) + x; };
      return scan<seq>(zeros<d8>(), step, X, g).result;
    });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(state_by([](auto g) { return exp(sigmoid(g)); }),
                 "is at least 1, so that the state grows at every step; did you mean exp(-"));
  CHECK(mentions(state_by([](auto g) { return exp(log(1 + exp(g))); }), "is at least 1"));
  CHECK(mentions(state_by([](auto g) { return exp(-log(sigmoid(g))); }),
                 "did you mean exp(log(sigmoid(g)))?"));
  CHECK(mentions(state_by([](auto g) { return 1 + exp(g); }), "did you mean 1 / (1 + exp("));
  CHECK(mentions(state_by([](auto g) { return pow(sigmoid(g), 16); }),
                 "is forgotten at once; did you mean the power 1.0 / 16?"));
  CHECK(state_by([](auto g) { return pow(sigmoid(g), 1.0 / 16); }).empty());
  CHECK(state_by([](auto g) { return 1 / (1 + exp(g)); }).empty());
  CHECK(state_by([](auto g) { return 0.5 + sigmoid(g); }).empty());
  CHECK(state_by([](auto g) { return exp(-sigmoid(g)); }).empty());
  CHECK(state_by([](auto g) { return exp(log(sigmoid(g))); }).empty());
  CHECK(state_by([](auto g) { return let<"grows">(exp(sigmoid(g))); }).empty());
  // A result of the scan may be larger than its state.
  const auto louder = kernel<"k">([](in<"X", seq, d8> X, in<"g", seq> g) -> out<"O", seq, d8> {
    const auto step = [](auto S, auto x, auto g) { return std::pair{S + x, S * exp(sigmoid(g))}; };
    return scan<seq>(zeros<d8>(), step, X, g).result;
  });
  CHECK(lines_of(codegen::make_program(louder)).empty());

  constexpr auto weights_by = []<class Decay>(Decay) {
    return of_attention<[](auto Q, auto K, auto V) {
      return dot<kv>(plain(mask(dot<d8>(Q, K) * Decay{}(), causal<seq, kv>)), V);
    }>();
  };
  CHECK(mentions(weights_by([] { return exp((index(kv) - index(seq)) * -0.05); }),
                 "grows with the distance where index(kv) <= index(seq) is true; did you mean the "
                 "opposite sign?"));
  CHECK(mentions(weights_by([] { return pow(0.9, cast<f32>(index(kv) - index(seq))); }),
                 "grows with the distance"));
  CHECK(weights_by([] { return exp((index(seq) - index(kv)) * -0.05); }).empty());
  CHECK(weights_by([] { return exp((index(kv) - index(seq)) * 0.05); }).empty());
  CHECK(weights_by([] { return pow(0.9, cast<f32>(index(seq) - index(kv))); }).empty());
  CHECK(weights_by([] { return let<"grows">(exp((index(kv) - index(seq)) * -0.05)); }).empty());
  CHECK(mentions(weights_by([] {
                   auto away = cast<f32>(index(kv) - index(seq));
                   return exp(away * away / 8);
                 }),
                 "grows with the square of the distance; did you leave out a minus?"));
  CHECK(weights_by([] {
          auto away = cast<f32>(index(kv) - index(seq));
          return exp(-away * away / 8);
        }).empty());
  CHECK(weights_by([] {
          auto at = cast<f32>(index(kv)) / 8;
          return exp(at * at);
        }).empty());
  CHECK(weights_by([] { return pow(1.0, cast<f32>(index(kv) - index(seq))); }).empty());
}

TEST_CASE("slips: where queries and keys stand") {
  constexpr static axis<"slots"> slots;
  constexpr static axis<"places", 64> places;
  constexpr auto placed_at = []<class At>(At) {
    const auto k = kernel<"k">([](in<"Q", seq, d8> Q, in<"K", slots, d8> K, in<"V", slots, e4> V,
                                  in<"length", i32> length,
                                  param<"table", places, d8> table) -> out<"O", seq, e4> {
      return scaled_dot_product<d8, slots>(Q + take<places>(table, At{}(length)), K, V,
                                           cached_causal<seq, slots>(length));
    });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(placed_at([](auto) { return index(seq); }),
                 "positions of seq begin at 0 here, but not in mask("));
  CHECK(placed_at([](auto length) { return index(seq) + length - size(seq); }).empty());
  CHECK(placed_at([](auto) { return let<"insists">(index(seq)); }).empty());

  constexpr static axis<"stored"> stored;
  constexpr static axis<"total"> total;
  constexpr auto aligned = []<class Keep>(Keep) {
    const auto k =
        kernel<"k">([](in<"Q", seq, d8> Q, in<"past", stored, d8> past, in<"now", seq, d8> now,
                       in<"V", total, e4> V) -> out<"O", seq, e4> {
          return scaled_dot_product<d8, total>(Q, concat<total>(past, now), V, Keep{}());
        });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(aligned([] { return causal<seq, total, align::first>; }),
                 "compares seq with total from their first positions, but concat<total, stored, "
                 "seq>(past, now) ends with those of seq; did you mean align::last?"));
  CHECK(aligned([] { return causal<seq, total, align::last>; }).empty());
  CHECK(aligned([] { return index(total) <= index(seq) + 128; }).empty());
  CHECK(aligned([] { return let<"oldest">(causal<seq, total, align::first>); }).empty());

  constexpr static axis<"two", 2> two;
  constexpr static axis<"pairs", 4> pairs;
  constexpr auto turned_by = []<class Base>(Base) {
    return of_attention<[](auto Q, auto K, auto V) {
      auto a = rope_angle<seq, pairs>(10000);
      auto b = rope_angle<kv, pairs>(Base{}());
      return scaled_dot_product<d8, kv>(rope<d8, two, pairs>(Q, cos(a), sin(a)),
                                        rope<d8, two, pairs>(K, cos(b), sin(b)), V);
    }>();
  };
  CHECK(mentions(turned_by([] { return 500000; }),
                 "the angles of seq, pairs and of kv, pairs have different bases"));
  CHECK(turned_by([] { return 10000; }).empty());
}

TEST_CASE("slips: parts of scores that are constant along all of several axes") {
  constexpr static axis<"row"> row;
  constexpr static axis<"column"> column;
  constexpr auto of_image = []<class Scores>(Scores) {
    const auto k =
        kernel<"k">([](in<"S", seq, row, column> S, in<"R", seq, row> R, in<"C", seq, column> C,
                       in<"b", seq> b, in<"n", i32> n) -> out<"W", seq, row, column> {
          return softmax<row, column>(Scores{}(S, R, C, b, n));
        });
    return lines_of(codegen::make_program(k));
  };
  CHECK(of_image([](auto S, auto R, auto C, auto, auto) { return S + R + C; }).empty());
  CHECK(of_image([](auto S, auto, auto, auto, auto n) {
          return mask(mask(S, index(row) < n), index(column) < n);
        }).empty());
  CHECK(mentions(of_image([](auto S, auto R, auto, auto b, auto) { return S + b + R; }),
                 "b does not vary along row, column and cancels; leave it out"));
  CHECK(mentions(
      of_image([](auto S, auto, auto, auto, auto n) { return mask(S, index(seq) < n); }),
      "does not vary along row, column, so that it empties whole rows; did you mean mask_rows("));
  CHECK(of_image([](auto S, auto, auto, auto b, auto) { return let<"s">(S + b); }).empty());

  const auto rescaled =
      kernel<"k">([](in<"S", seq, row, column> S, in<"n", i32> n) -> out<"W", seq, row, column> {
        return normalize<row, column>(mask(S, index(seq) < n));
      });
  CHECK(mentions(lines_of(codegen::make_program(rescaled)), "so that it empties whole rows"));
}

TEST_CASE("slips: frequencies that grow, and positions in 16 bits") {
  constexpr auto turned_by = []<class Frequency>(Frequency) {
    const auto k = kernel<"k">([](in<"X", seq, d8> X) -> out<"Y", seq, d8> {
      return X * cos(index(seq) * Frequency{}());
    });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(turned_by([] { return pow(10000, index(d8) / 8.0); }),
                 "grows with d; did you leave out a minus?"));
  CHECK(mentions(turned_by([] { return exp(0.3 * index(d8)); }), "grows with d"));
  CHECK(turned_by([] { return pow(10000, -index(d8) / 8.0); }).empty());
  CHECK(turned_by([] { return pow(0.001, index(d8) / 8.0); }).empty());
  CHECK(turned_by([] { return let<"insists">(pow(10000, index(d8) / 8.0)); }).empty());

  constexpr auto scores_with = []<class Bias>(Bias) {
    return of_attention<[](auto Q, auto K, auto V) {
      return dot<kv>(softmax<kv>(dot<d8>(Q, K) + Bias{}()), V);
    }>();
  };
  CHECK(mentions(scores_with([] { return -cast<bf16>(abs(index(kv) - index(seq))); }),
                 "bf16 holds no odd numbers above 256, so that positions become equal"));
  CHECK(mentions(scores_with([] { return -cast<f16>(abs(index(kv) - index(seq))); }), "2048"));
  CHECK(scores_with([] { return -cast<bf16>(min(abs(index(kv) - index(seq)), 100)); }).empty());
  CHECK(scores_with([] { return -cast<f32>(abs(index(kv) - index(seq))); }).empty());
}

TEST_CASE("slips: a running maximum that begins at 0") {
  constexpr auto running = []<class Start, class Step>(Start, Step) {
    const auto k = kernel<"k">([](in<"X", seq, d8> X) -> out<"Y", seq, d8> {
      return scan<seq>(filled<d8>(Start{}()), Step{}, X).result;
    });
    return lines_of(codegen::make_program(k));
  };
  constexpr auto zero = [] { return 0.0; };
  constexpr auto maximum = [](auto m, auto x) { return max(m, x); };
  CHECK(
      mentions(running(zero, maximum),
               "the maximum of the steps so far begins at 0; did you mean filled<..>(-infinity)?"));
  CHECK(mentions(running(zero, [](auto m, auto x) { return min(x * x, m); }), "the minimum of"));
  CHECK(running([] { return none; }, maximum).empty());
  CHECK(running(zero, [](auto m, auto x) { return max(m, x * x); }).empty());
  CHECK(running(zero, [](auto m, auto x) { return let<"floor">(max(m, x)); }).empty());
}

TEST_CASE("slips: exponentials under a softmax, weights that are lowered") {
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   return dot<kv>(softmax<kv>(exp(dot<d8>(Q, K))), V);
                 }>(),
                 "softmax takes exponentials itself; did you mean softmax<kv>(dot(Q, K)) or "));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          return dot<kv>(softmax<kv>(let<"scores">(exp(dot<d8>(Q, K)))), V);
        }>()
            .empty());
  constexpr auto with_hidden = []<class Low>(Low) {
    const auto k =
        kernel<"k">([](S_ S, in<"V", batch, kv, d_v> V,
                       in<"keep", b8, batch, seq, kv> keep) -> out<"O", batch, seq, d_v> {
          return dot<kv>(where(keep, softmax<kv>(S), Low{}()), V);
        });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(with_hidden([] { return -1e9; }),
                 "hidden keys have the weight -1e+09, not 0; did you mean the softmax of mask("));
}

TEST_CASE("slips: a scan that carries nothing") {
  constexpr auto carried = []<class Step>(Step) {
    const auto k = kernel<"k">([](in<"X", seq, d8> X) -> out<"Y", seq, d8> {
      return scan<seq>(zeros<d8>(), Step{}, X).result;
    });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(carried([](auto s, auto x) { return std::pair{s, s * 0.9 + x}; }),
                 "the next state is the state itself, so nothing is carried; did you mean"));
  CHECK(carried([](auto s, auto x) { return std::pair{s * 0.9 + x, s}; }).empty());
  CHECK(carried([](auto s, auto x) { return std::pair{let<"kept">(s), s * 0.9 + x}; }).empty());
}

TEST_CASE("slips: tokens that predict themselves") {
  constexpr static axis<"vocab", 40> vocab;
  const auto loss_of = [](bool itself) {
    const auto k = kernel<"k">([](in<"ids", i32, seq> ids, in<"next", i32, seq> next,
                                  param<"words", vocab, d8> words,
                                  param<"W", d8, vocab> W) -> outs<out<"A", seq>, out<"B", seq>> {
      auto logits = dot<d8>(take<vocab>(words, ids), W);
      return {take<vocab>(logits, next), logsumexp<vocab>(logits)};
    });
    const auto wrong = kernel<"k">([](in<"ids", i32, seq> ids, param<"words", vocab, d8> words,
                                      param<"W", d8, vocab> W) -> out<"A", seq> {
      return take<vocab>(dot<d8>(take<vocab>(words, ids), W), ids);
    });
    return lines_of(itself ? codegen::make_program(wrong) : codegen::make_program(k));
  };
  CHECK(mentions(loss_of(true), "ids is looked up in what is computed from ids itself"));
  CHECK(loss_of(false).empty());
}

TEST_CASE("slips: scores divided by the size of what they contract") {
  constexpr auto scaled_by = []<class Scale>(Scale) {
    const auto k = kernel<"k">([](in<"Q", seq, d> Q, in<"K", kv, d> K) -> out<"P", seq, kv> {
      return softmax<kv>(Scale{}(dot<d>(Q, K)));
    });
    return lines_of(codegen::make_program(k));
  };
  CHECK(scaled_by([](auto s) { return s / 64; }) ==
        "dot(Q, K) / 64: dot(Q, K) is divided by the size of d; did you mean / sqrt(d)? if it is "
        "meant, / size(d)");
  CHECK(mentions(scaled_by([](auto s) { return s * (1 / 64.f); }), "did you mean / sqrt(d)?"));
  CHECK(scaled_by([](auto s) { return s / 8; }).empty());
  CHECK(scaled_by([](auto s) { return softcap(s, 64); }).empty());
  CHECK(scaled_by([](auto s) { return s / 64 * 8; }).empty());
  CHECK(scaled_by([](auto s) { return s / size(d); }).empty());
  CHECK(scaled_by([](auto s) { return let<"scores">(s / 64); }).empty());
}

TEST_CASE("slips: one side of scores divided by the size of what they contract") {
  constexpr auto sides = []<class Left, class Right>(Left, Right) {
    const auto k = kernel<"k">([](in<"Q", seq, d> Q, in<"K", kv, d> K) -> out<"P", seq, kv> {
      return softmax<kv>(dot<d>(Left{}(Q), Right{}(K)));
    });
    return lines_of(codegen::make_program(k));
  };
  constexpr auto whole = [](auto x) { return x; };
  CHECK(
      mentions(sides([](auto q) { return q / 64; }, whole),
               "Q is divided by the size of d; did you mean / sqrt(d)? if it is meant, / size(d)"));
  CHECK(mentions(sides(whole, [](auto k) { return k * (1 / 64.f); }), "K is divided by the size"));
  CHECK(sides([](auto q) { return q / 8; }, whole).empty());
  CHECK(sides([](auto q) { return q / size(d); }, whole).empty());
  CHECK(sides([](auto q) { return q / 64; }, [](auto k) { return k * 8; }).empty());
  CHECK(sides([](auto q) { return let<"q">(q / 64); }, whole).empty());
}

TEST_CASE("slips: what scales scores and results") {
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto bias = -0.5 * abs(index(kv) - index(seq));
                   return dot<kv>(softmax<kv>((dot<d8>(Q, K) + bias) / sqrt(d8)), V);
                 }>(),
                 "is divided, too; did you mean to divide dot(Q, K) alone?"));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto bias = -0.5 * abs(index(kv) - index(seq));
          return dot<kv>(softmax<kv>(dot<d8>(Q, K) / sqrt(d8) + bias), V);
        }>()
            .empty());
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto hidden = where(causal<seq, kv>, 0, -1e9);
          return dot<kv>(softmax<kv>((dot<d8>(Q, K) + hidden) / sqrt(d8)), V);
        }>()
            .empty());
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   return dot<kv>(softmax<kv>(dot<d8>(Q, K) * pow(size(d8), 0.5)), V);
                 }>(),
                 "is multiplied by the root of what it contracted; did you mean / sqrt(d)?"));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          return dot<kv>(softmax<kv>(dot<d8>(Q, K) * pow(size(d8), -0.5)), V);
        }>()
            .empty());
  CHECK(mentions(of_scores<[](auto S) { return tanh(S / 50) * 30; }>(),
                 "the scores are divided by 50 and multiplied by 30; did you mean one cap"));
  CHECK(of_scores<[](auto S) { return tanh(S / 50) * 50; }>().empty());
  CHECK(of_scores<[](auto S) { return tanh(S / 1.5) * 1.7159; }>().empty());
  CHECK(mentions(of_scores<[](auto S) { return tanh(S / 50); }>(),
                 "the scores lie between -1 and 1; did you mean 50 * tanh(S / 50)?"));
  CHECK(of_scores<[](auto S) { return let<"flat">(tanh(S / 50)); }>().empty());
  CHECK(mentions(of_attention<[](auto Q, auto K, auto V) {
                   auto s = dot<d8>(Q, K);
                   return dot<kv>(softmax<kv>(s), V) * sigmoid(1 - logsumexp<kv>(s));
                 }>(),
                 "is the share of 1, not of softmax<kv>(dot(Q, K)); did you mean "
                 "sigmoid(logsumexp<kv>(dot(Q, K)) - 1)?"));
  CHECK(of_attention<[](auto Q, auto K, auto V) {
          auto s = dot<d8>(Q, K);
          return dot<kv>(softmax<kv>(s), V) * sigmoid(logsumexp<kv>(s) - 1);
        }>()
            .empty());
}

TEST_CASE("slips: what a name shows") {
  constexpr auto kept_by = []<class Keep>(Keep) {
    const auto k = kernel<"k">([](S_ S, in<"length", i32, batch> length,
                                  in<"n_pad_left", i32, batch> pad) -> out<"W", batch, seq, kv> {
      return softmax<kv>(mask(S, Keep{}(length, pad)));
    });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(kept_by([](auto length, auto) { return index(kv) <= length; }),
                 "keeps the position after the last one; did you mean index(kv) < length?"));
  CHECK(mentions(kept_by([](auto length, auto) { return index(kv) >= length; }),
                 "keeps padding alone; did you mean index(kv) < length?"));
  CHECK(mentions(kept_by([](auto length, auto) { return causal<seq, kv> && index(kv) <= length; }),
                 "keeps the position after the last one"));
  CHECK(kept_by([](auto length, auto) { return index(kv) < length; }).empty());
  CHECK(kept_by([](auto length, auto) { return index(kv) <= length - 1; }).empty());
  CHECK(kept_by([](auto length, auto) { return let<"insists">(index(kv) <= length); }).empty());
  CHECK(kept_by([](auto, auto pad) { return index(kv) >= pad; }).empty());
  const auto after = kernel<"k">([](S_ S, in<"prompt_len", i32, batch> prompt_len,
                                    in<"valence", i32, batch> valence) -> out<"W", batch, seq, kv> {
    return softmax<kv>(mask(S, index(kv) >= prompt_len && index(kv) <= valence));
  });
  CHECK(lines_of(codegen::make_program(after)).empty());

  constexpr auto last = []<class At>(At) {
    const auto k = kernel<"k">(
        [](in<"X", batch, seq, d8> X, in<"lengths", i32, batch> lengths) -> out<"Y", batch, d8> {
          return take<seq>(X, At{}(lengths));
        });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(last([](auto n) { return n; }),
                 "lengths is one past the last position; did you mean lengths - 1?"));
  CHECK(last([](auto n) { return n - 1; }).empty());
  CHECK(last([](auto n) { return n + 0; }).empty());
  const auto embedded = kernel<"k">([](param<"lengths_table", table, d8> lengths_table,
                                       in<"length", i32, batch> length) -> out<"Y", batch, d8> {
    return take<table>(lengths_table, length);
  });
  CHECK(lines_of(codegen::make_program(embedded)).empty());

  constexpr static axis<"vocab"> vocab;
  constexpr auto loss = []<class Of>(Of) {
    const auto k =
        kernel<"k">([](in<"logits", seq, vocab> logits, in<"next", i32, seq> next) -> out<"loss"> {
          return Of{}(logits, next);
        });
    return lines_of(codegen::make_program(k));
  };
  CHECK(mentions(
      loss([](auto x, auto next) { return mean<seq>(take<vocab>(x, next) - logsumexp<vocab>(x)); }),
      "loss is never positive; did you leave out a minus?"));
  CHECK(mentions(
      loss([](auto x, auto next) { return mean<seq>(log(take<vocab>(softmax<vocab>(x), next))); }),
      "loss is never positive"));
  CHECK(loss([](auto x, auto next) {
          return mean<seq>(logsumexp<vocab>(x) - take<vocab>(x, next));
        }).empty());
}

// Part by part, this sum would take 2^32 visits.
TEST_CASE("slips: a sum that doubles itself is visited once") {
  codegen::program p =
      codegen::make_program(kernel<"k">([](S_ S) -> out<"W", batch, seq, kv> { return S + S; }));
  const codegen::node_id out = p.outputs[0];
  codegen::node_id sum = p[out].in[0];
  for (int doubled = 1; doubled < 32; ++doubled) {
    codegen::node twice = p[sum];
    twice.in = {sum, sum};
    p.nodes.push_back(twice);
    sum = static_cast<codegen::node_id>(p.nodes.size()) - 1;
  }
  p.nodes.push_back(p[out]);
  p.nodes.back().in = {sum};
  p.outputs = {sum + 1};
  CHECK(mentions(lines_of(p), "is added twice; if it is meant, 2 * "));
}

constexpr auto halved(auto x) { return 0.5f * x + 0.5f * x; }
constexpr auto halved_8(auto x) {
  return halved(halved(halved(halved(halved(halved(halved(halved(x))))))));
}
constexpr auto shared_steps = kernel<"shared_steps">(
    [](S_ S) -> out<"P", batch, seq, kv> { return halved_8(halved_8(halved_8(halved_8(S)))); });

// Without the numbers of each step at hand, this would take 2^32 visits.
TEST_CASE("slips: a step that is used twice is visited once") {
  CHECK(codegen::slips_of(codegen::make_program(shared_steps)).empty());
}

}  // namespace qkv::testing::slips
