// SPDX-License-Identifier: BSL-1.0
// Cuts of pipelines: the kind of each stage, and the steps that are stored.
#include "codegen/plan/stages.hpp"

#include <algorithm>

#include "codegen/plan/storage.hpp"
#include "codegen/program/from_graph.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "programs_to_cut.hpp"
#include "tests/catch.hpp"

namespace {

using namespace qkv::codegen;

// Stages as text, "attention attention map", and the largest number of run-time axes of any stored
// step but the outputs.
struct outline {
  std::string kinds;
  int run_time_axes = 0;
};

outline outline_of(const program &written) {
  const program p = simplified(written);
  const stages cut = cut_into_stages(p);
  outline o;
  for (const stage &s : cut.list) {
    o.kinds += (o.kinds.empty() ? "" : " ") + std::string(name_of(s));
    for (node_id root : roots_of(s)) {
      if (p[root].kind == op::output) continue;
      const auto n = std::count_if(p[root].shape.begin(), p[root].shape.end(), [&](axis_id a) {
        return p.axes[a].size < 0 && !p.axes[a].batch;
      });
      o.run_time_axes = std::max(o.run_time_axes, static_cast<int>(n));
    }
  }
  return o;
}

outline outline_of(std::string_view kernel) {
  static const std::vector<program> all = qkv::testing::programs_to_cut();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const program &p) { return p.name == kernel; });
  REQUIRE(found != all.end());
  return outline_of(*found);
}

// X (W U), where (X W) U takes less for any number of rows.
constexpr qkv::axis<"seq"> seq;
constexpr qkv::axis<"wide", 64> wide;
constexpr qkv::axis<"narrow", 4> narrow;
constexpr qkv::axis<"out", 64> out_;
constexpr auto squeezed =
    qkv::kernel<"squeezed">([](qkv::in<"X", seq, wide> X, qkv::in<"W", wide, narrow> W,
                               qkv::in<"U", narrow, out_> U) -> qkv::out<"Y", seq, out_> {
      return qkv::dot<wide>(X, qkv::dot<narrow>(W, U));
    });

// The same with a name for the contraction that is opened.
constexpr auto named =
    qkv::kernel<"named">([](qkv::in<"X", seq, wide> X, qkv::in<"W", wide, narrow> W,
                            qkv::in<"U", narrow, out_> U) -> qkv::out<"Y", seq, out_> {
      return qkv::dot<wide>(X, qkv::let<"WU">(qkv::dot<narrow>(W, U)));
    });

// The same, but a mask on X hides a factor of the product.
constexpr auto hidden = qkv::kernel<"hidden">(
    [](qkv::in<"X", seq, wide> X, qkv::in<"keep", qkv::b8, wide> keep, qkv::in<"W", wide, narrow> W,
       qkv::in<"U", narrow, out_> U) -> qkv::out<"Y", seq, out_> {
      return qkv::dot<wide>(qkv::mask(X, keep), qkv::dot<narrow>(W, U));
    });

// The maximum is a result itself, as of a part of a sequence that is merged with others.
constexpr qkv::axis<"keys"> keys;
constexpr auto part_by_hand = qkv::kernel<"part_by_hand">(
    [](qkv::in<"Q", seq, wide> Q, qkv::in<"K", keys, wide> K, qkv::in<"V", keys, narrow> V)
        -> qkv::outs<qkv::out<"O", seq, narrow>, qkv::out<"m", seq>, qkv::out<"l", seq>> {
      auto s = qkv::dot<wide>(Q, K) / qkv::sqrt(wide);
      auto m = qkv::max<keys>(s);
      auto e = qkv::exp(s - m);
      return {qkv::dot<keys>(e, V), m, qkv::sum<keys>(e)};
    });

constexpr qkv::batch_axis<"row"> row;

constexpr auto rows_by_rows = qkv::kernel<"rows_by_rows">(
    [](qkv::in<"X", row, wide> X, qkv::in<"Y", row, wide> Y) -> qkv::out<"O", row> {
      return qkv::dot<wide>(X, Y);
    });
constexpr auto rows_by_vector = qkv::kernel<"rows_by_vector">(
    [](qkv::in<"X", seq, wide> X, qkv::in<"v", wide> v) -> qkv::out<"O", seq> {
      return qkv::dot<wide>(X, v);
    });
constexpr auto vector_by_weights = qkv::kernel<"vector_by_weights">(
    [](qkv::in<"v", wide> v, qkv::param<"W", wide, narrow> W) -> qkv::out<"O", narrow> {
      return qkv::dot<wide>(v, W);
    });

// A scan's last state and its results wait for one another through what reads them: the product is
// computed apart from both.
constexpr auto scan_and_sums = qkv::kernel<"scan_and_sums">(
    [](qkv::in<"X", seq, narrow> X, qkv::in<"s", narrow> s,
       qkv::in<"g", seq> g) -> qkv::outs<qkv::out<"O", seq, narrow>, qkv::out<"last", narrow>> {
      auto forward = qkv::scan<seq>(s, [](auto state, auto x) { return state + x; }, X);
      auto other = qkv::scan<seq>(s, [](auto state, auto x) { return state * x; }, X);
      return {forward.result + other.result, other.last + qkv::dot<seq>(g, forward.result)};
    });

// Projections give positions before heads: rows are positions all the same.
constexpr qkv::batch_axis<"heads", 2> heads;

// A bias of each head, of features of a query and of a key: memory has none of a pair.
constexpr qkv::axis<"half", 8> half;
constexpr auto features_of_sides = qkv::kernel<"features_of_sides">(
    [](qkv::in<"Q", heads, seq, wide> Q, qkv::in<"K", heads, keys, wide> K,
       qkv::in<"V", heads, keys, narrow> V, qkv::in<"a", seq, half> a, qkv::in<"b", keys, half> b,
       qkv::param<"W", half, heads> W) -> qkv::out<"O", heads, seq, narrow> {
      auto bias = qkv::dot<half>(qkv::tanh(qkv::broadcast<keys>(a) + qkv::broadcast<seq>(b)), W);
      auto scores = qkv::dot<wide>(Q, K) / qkv::sqrt(wide) + bias;
      return qkv::dot<keys>(qkv::softmax<keys>(scores), V);
    });
constexpr qkv::batch_axis<"group", 4> group;
constexpr qkv::alias<"kv", seq> kv;
constexpr auto positions_first = qkv::kernel<"positions_first">(
    [](qkv::in<"Q", seq, heads, group, wide> Q, qkv::in<"K", kv, heads, wide> K,
       qkv::in<"V", kv, heads, wide> V) -> qkv::out<"O", seq, heads, group, wide> {
      return qkv::dot<kv>(qkv::softmax<kv>(qkv::dot<wide>(Q, K) / qkv::sqrt(wide)), V);
    });
constexpr auto batches_last = qkv::kernel<"batches_last">([
](qkv::in<"X", seq, row, wide> X, qkv::in<"W", wide, narrow> W) -> qkv::out<"Y", seq, row, narrow> {
  return qkv::dot<wide>(X, W);
});

// Keys of a low rank: features of every key, and a matrix over the keys.
constexpr auto features_first = qkv::kernel<"features_first">(
    [](qkv::in<"K", kv, wide> K, qkv::in<"E", row, kv> E) -> qkv::out<"Y", wide, row> {
      return qkv::dot<kv>(K, E);
    });
constexpr auto features_last = qkv::kernel<"features_last">(
    [](qkv::in<"K", kv, wide> K, qkv::in<"E", row, kv> E) -> qkv::out<"Y", row, wide> {
      return qkv::dot<kv>(E, K);
    });

constexpr qkv::batch_axis<"batch"> batch;
constexpr qkv::batch_axis<"channel", 64> channel;
constexpr auto matrix_of_channels = qkv::kernel<"matrix_of_channels">(
    [](qkv::in<"T", seq, kv, channel> T,
       qkv::in<"X", batch, kv, channel> X) -> qkv::out<"Y", batch, seq, channel> {
      return qkv::dot<kv>(T, X);
    });
// The same with channels first: panels of the batch are contiguous.
constexpr auto matrix_of_rows = qkv::kernel<"matrix_of_rows">(
    [](qkv::in<"T", channel, seq, kv> T,
       qkv::in<"X", batch, channel, kv> X) -> qkv::out<"Y", batch, channel, seq> {
      return qkv::dot<kv>(T, X);
    });

constexpr auto turning_state =
    qkv::kernel<"turning_state">([](qkv::in<"X", seq, wide> X, qkv::param<"r", wide> r,
                                    qkv::param<"angle", wide> angle) -> qkv::out<"Y", seq, wide> {
      auto a = r * qkv::cos(angle);
      auto b = r * qkv::sin(angle);
      auto [y, last] = qkv::scan<seq>(
          qkv::zeros<wide>(),
          [&](auto state, auto x) {
            auto next = a * state + b * x;
            return std::pair{next, next};
          },
          X);
      return y;
    });

constexpr auto values_of_lse = qkv::kernel<"values_of_lse">(
    [](qkv::in<"S", seq, wide> S, qkv::in<"X", seq, wide> X) -> qkv::out<"O", seq> {
      auto values = qkv::dot<seq>(X, qkv::logsumexp<wide>(S));
      return qkv::dot<wide>(qkv::softmax<wide>(S), values);
    });

}  // namespace

TEST_CASE("rows lie along the axis with the most positions, wherever it is") {
  const auto row_of_first = [](const program &written) {
    const program p = simplified(written);
    const stage s = cut_into_stages(p).list.at(0);
    const auto *a = std::get_if<attention_stage>(&s);
    return p.axes[a ? a->row : std::get<contraction_stage>(s).row].name;
  };
  CHECK(row_of_first(make_program(positions_first)) == "seq");
  CHECK(row_of_first(make_program(batches_last)) == "seq");
}

TEST_CASE("columns of a contraction lie side by side in memory where an operand has them so") {
  const auto column_of = [](const program &written) {
    const program p = simplified(written);
    return p.axes[std::get<contraction_stage>(cut_into_stages(p).list.at(0)).column].name;
  };
  CHECK(column_of(make_program(features_first)) == "wide");
  CHECK(column_of(make_program(features_last)) == "wide");
}

TEST_CASE("one attention is one stage") {
  CHECK(outline_of("full").kinds == "attention");
  CHECK(outline_of("causal_self").kinds == "attention");
  CHECK(outline_of("with_lse").kinds == "attention");
}

TEST_CASE("a logsumexp of which the values are made is not a result of their attention") {
  CHECK(outline_of(make_program(values_of_lse)).kinds == "map map attention");
}

TEST_CASE("weights that several products share are computed in one walk") {
  const outline o = outline_of("two_values");
  CHECK(o.kinds == "attention");
  CHECK(o.run_time_axes == 0);
  CHECK(outline_of("values_of_three").kinds == "attention");
  CHECK(outline_of("shares_of_two").kinds == "attention");
}

TEST_CASE("sums that need each other take a walk each") {
  CHECK(outline_of("values_of_values").kinds == "attention attention");
}

TEST_CASE("what one sum stores is stored for the others") {
  CHECK(outline_of("stored_scores").kinds == "map map map map attention");
  CHECK(outline_of("weights_or_values").kinds == "map map map attention map");
}

TEST_CASE("a product that uses each number of its larger operand once is a map") {
  // The second copies it to the output.
  CHECK(outline_of(make_program(rows_by_rows)).kinds == "map map");
  CHECK(outline_of(make_program(rows_by_vector)).kinds == "map map");
  CHECK(outline_of(make_program(vector_by_weights)).kinds == "contraction");  // packed beforehand
}

TEST_CASE("a matrix for each channel is read as it lies in memory") {
  const program p = simplified(make_program(matrix_of_channels));
  const stages cut = cut_into_stages(p);
  const stage &first = cut.list.at(0);
  REQUIRE(std::holds_alternative<map_stage>(first));
  // perhaps one batch entry, which would fill no lanes
  const node_id root = std::get<map_stage>(first).root;
  CHECK(p.axes[storage_order(p, cut, root).back()].name == "channel");
  CHECK(outline_of(make_program(matrix_of_rows)).kinds == "contraction");
}

TEST_CASE("a bias that heads make of the features of a pair is stored") {
  CHECK(outline_of("pair_features").kinds == "contraction attention");
  CHECK(outline_of(make_program(features_of_sides)).run_time_axes <= 1);
}

TEST_CASE("functions of params are stored for a scan, not computed at each position") {
  CHECK(outline_of(make_program(turning_state)).kinds == "map map scan");
}

TEST_CASE("no two stages wait for each other") {
  CHECK(outline_of(make_program(scan_and_sums)).kinds == "scan map scan");
}

TEST_CASE("pairs that several sums need are stored by none") {
  CHECK(outline_of("rows_of_gradient").kinds == "attention");
  CHECK(outline_of("keys_of_gradient").kinds == "attention");
  CHECK(outline_of("capped_gradient").kinds == "attention");
  CHECK(outline_of("sums_of_pairs").kinds == "attention");
  CHECK(outline_of("one_sum_of_pairs").kinds == "attention");
  const outline all = outline_of("gradient_by_hand");
  CHECK(all.kinds == "attention map map attention");  // O is copied, and the total
  CHECK(all.run_time_axes == 1);
}

TEST_CASE("weights that are an output are stored, and the product reads them") {
  const outline o = outline_of("weights_out");
  CHECK(o.kinds.find("attention") == std::string::npos);
  CHECK(o.run_time_axes == 2);
}

TEST_CASE("weights that nothing normalises are streamed") {
  CHECK(outline_of("sigmoid_weights").kinds == "attention");
  CHECK(outline_of("retention").kinds == "attention");
}

TEST_CASE("softmax that is written by hand is streamed") {
  CHECK(outline_of("sink_by_hand").kinds == "attention map");
  const outline o = outline_of("softmax_by_hand");
  CHECK(o.kinds.starts_with("attention"));
  CHECK(o.run_time_axes == 1);
}

TEST_CASE("prefix sums of outer products are never stored") {
  const outline o = outline_of("outer_prefix_sums");
  CHECK(o.kinds.ends_with("scan"));
  CHECK(o.run_time_axes == 1);
}

TEST_CASE("weights whose maximum is a result are stored") {
  CHECK(outline_of(make_program(part_by_hand)).kinds.find("attention") == std::string::npos);
}

TEST_CASE("heads that are mixed after the softmax are contracted") {
  CHECK(outline_of("talking_heads").kinds.find("attention") == std::string::npos);
}

TEST_CASE("channels are contracted as they lie in memory") {
  CHECK(outline_of("channels").kinds.ends_with("contraction map contraction"));
}

TEST_CASE("a hidden layer is not attention") {
  CHECK(outline_of("feed_forward").kinds.find("attention") == std::string::npos);
}

TEST_CASE("products with sums of weights are sums of products with weights") {
  for (const outline &o : {outline_of("gated_difference"), outline_of("differential")}) {
    CHECK(o.kinds.starts_with("attention attention"));
    CHECK(o.run_time_axes <= 1);
  }
}

TEST_CASE("weights times a gate are streamed: dropout, and what the call gives") {
  for (const outline &o : {outline_of("dropped_weights"), outline_of("gated_pairs")}) {
    CHECK(o.kinds == "attention");
    CHECK(o.run_time_axes == 0);
  }
  const outline difference = outline_of("dropped_difference");
  CHECK(difference.kinds.starts_with("attention attention"));
  CHECK(difference.run_time_axes <= 1);
}

TEST_CASE("where sizes of the call decide on the order of contractions, both are compiled") {
  // Q (K' V), and (Q K') V streamed; one is copied into the result
  const outline linear = outline_of("quadratic_linear");
  CHECK(linear.kinds == "contraction contraction attention map");
  CHECK(linear.run_time_axes <= 1);
  // (weights U) A, and weights (U A)
  const outline low = outline_of("low_rank");
  CHECK(low.kinds == "contraction attention contraction attention map");
  CHECK(low.run_time_axes <= 1);
}

TEST_CASE("no order of contractions is taken that would store weights") {
  const std::string kinds = outline_of("landmarks").kinds;
  CHECK(kinds.find("attention contraction") != std::string::npos);
  CHECK(outline_of("landmarks").run_time_axes <= 1);
}

TEST_CASE("static sizes decide on the order of contractions at once") {
  const auto p = opened(make_program(squeezed));
  const auto orders = orders_of(p);
  REQUIRE(orders.size() == 1);
  CHECK(orders[0].written != orders[0].chosen);
  CHECK(orders[0].other.empty());
  CHECK(outline_of(make_program(squeezed)).kinds == "contraction contraction");
}

TEST_CASE("a name does not keep a contraction out of the order") {
  const auto orders = orders_of(opened(make_program(named)));
  REQUIRE(orders.size() == 1);
  CHECK(orders[0].chosen == orders_of(opened(make_program(squeezed)))[0].chosen);
}

TEST_CASE("contractions with what a mask hides stay in the order of the spec") {
  CHECK(orders_of(opened(make_program(hidden))).empty());
}

TEST_CASE("what a scan computes of its operands alone is computed for all positions before") {
  CHECK(outline_of("elman").kinds == "contraction scan");
  CHECK(outline_of("from_zero").kinds == "scan");
  // an outer product, or the product with a param of more axes, is not: all positions of it would
  // be stored
  CHECK(outline_of("selective").kinds == "scan");
}

TEST_CASE("a product with weights is not a score of another attention") {
  CHECK(outline_of("weights_of_attention").kinds == "attention contraction");
}
