// Cuts of pipelines: the kind of each stage, and the steps that are stored.
#include "codegen/plan/stages.hpp"

#include <algorithm>

#include "codegen/program/from_graph.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/dropout_specs.hpp"
#include "tests/kernels/scan_specs.hpp"
#include "tests/kernels/specs.hpp"
#include "tests/kernels/sums_specs.hpp"
#include "tests/kernels/zoo_specs.hpp"

using namespace qkv::codegen;

namespace {

// Stages as text, "attention attention map", and the largest number of run-time axes of any stored step but the outputs.
struct outline {
  std::string kinds;
  int run_time_axes = 0;
};

template <class Kernel>
outline outline_of(const Kernel &kernel) {
  const program p = simplified(make_program(kernel));
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

// X (W U), where (X W) U takes less for any number of rows.
constexpr qkv::axis<"wide", 64> wide;
constexpr qkv::axis<"narrow", 4> narrow;
constexpr qkv::axis<"out", 64> out_;
constexpr auto squeezed =
    qkv::kernel<"squeezed">([](qkv::in<"X", specs::seq, wide> X, qkv::in<"W", wide, narrow> W,
                               qkv::in<"U", narrow, out_> U) -> qkv::out<"Y", specs::seq, out_> {
      return qkv::dot<wide>(X, qkv::dot<narrow>(W, U));
    });

// The same with a name for the contraction that is opened.
constexpr auto named =
    qkv::kernel<"named">([](qkv::in<"X", specs::seq, wide> X, qkv::in<"W", wide, narrow> W,
                            qkv::in<"U", narrow, out_> U) -> qkv::out<"Y", specs::seq, out_> {
      return qkv::dot<wide>(X, qkv::let<"WU">(qkv::dot<narrow>(W, U)));
    });

// The same, but a mask on X hides a factor of the product.
constexpr auto hidden =
    qkv::kernel<"hidden">([](qkv::in<"X", specs::seq, wide> X, qkv::in<"keep", qkv::b8, wide> keep,
                             qkv::in<"W", wide, narrow> W,
                             qkv::in<"U", narrow, out_> U) -> qkv::out<"Y", specs::seq, out_> {
      return qkv::dot<wide>(qkv::mask(X, keep), qkv::dot<narrow>(W, U));
    });

constexpr auto values_of_lse = qkv::kernel<"values_of_lse">([
](qkv::in<"S", specs::seq, wide> S, qkv::in<"X", specs::seq, wide> X) -> qkv::out<"O", specs::seq> {
  auto values = qkv::dot<specs::seq>(X, qkv::logsumexp<wide>(S));
  return qkv::dot<wide>(qkv::softmax<wide>(S), values);
});

}  // namespace

TEST_CASE("one attention is one stage") {
  CHECK(outline_of(specs::full).kinds == "attention");
  CHECK(outline_of(specs::causal_self).kinds == "attention");
  CHECK(outline_of(specs::with_lse).kinds == "attention");
}

TEST_CASE("a logsumexp of which the values are made is not a result of their attention") {
  CHECK(outline_of(values_of_lse).kinds == "map contraction attention");
}

TEST_CASE("weights that several products share are computed in one walk") {
  const outline o = outline_of(specs::two_values);
  CHECK(o.kinds == "attention");
  CHECK(o.run_time_axes == 0);
  CHECK(outline_of(sums::values_of_three).kinds == "attention");
  CHECK(outline_of(sums::shares_of_two).kinds == "attention");
}

TEST_CASE("sums that need each other take a walk each") {
  CHECK(outline_of(sums::values_of_values).kinds == "attention attention");
}

TEST_CASE("what one sum stores is stored for the others") {
  CHECK(outline_of(sums::stored_scores).kinds == "contraction map attention map contraction");
  CHECK(outline_of(sums::weights_or_values).kinds == "map contraction contraction attention map");
}

TEST_CASE("pairs that several sums need are stored by none") {
  CHECK(outline_of(sums::rows_of_gradient).kinds == "attention");
  CHECK(outline_of(sums::keys_of_gradient).kinds == "attention");
  CHECK(outline_of(sums::capped_gradient).kinds == "attention");
  CHECK(outline_of(sums::sums_of_pairs).kinds == "attention");
  CHECK(outline_of(sums::one_sum_of_pairs).kinds == "attention");
  const outline all = outline_of(sums::gradient_by_hand);
  CHECK(all.kinds == "attention map map attention attention");  // O is copied, and the total
  CHECK(all.run_time_axes == 1);
}

TEST_CASE("weights that are an output are stored, and the product reads them") {
  const outline o = outline_of(specs::weights_out);
  CHECK(o.kinds.find("attention") == std::string::npos);
  CHECK(o.run_time_axes == 2);
}

TEST_CASE("weights that nothing normalises are streamed") {
  CHECK(outline_of(specs::sigmoid_weights).kinds == "attention");
  CHECK(outline_of(specs::retention).kinds == "attention");
}

TEST_CASE("weights that need a maximum of their scores first are stored") {
  CHECK(outline_of(specs::sink_by_hand).kinds.find("attention") == std::string::npos);
}

TEST_CASE("a hidden layer is not attention") {
  CHECK(outline_of(specs::feed_forward).kinds.find("attention") == std::string::npos);
}

TEST_CASE("products with sums of weights are sums of products with weights") {
  for (const outline &o : {outline_of(specs::gated_difference), outline_of(specs::differential)}) {
    CHECK(o.kinds.starts_with("attention attention"));
    CHECK(o.run_time_axes <= 1);
  }
}

TEST_CASE("weights times a gate are streamed: dropout, and what the call gives") {
  for (const outline &o :
       {outline_of(dropped::dropped_weights), outline_of(dropped::gated_pairs)}) {
    CHECK(o.kinds == "attention");
    CHECK(o.run_time_axes == 0);
  }
  const outline difference = outline_of(dropped::dropped_difference);
  CHECK(difference.kinds.starts_with("attention attention"));
  CHECK(difference.run_time_axes <= 1);
}

TEST_CASE("where sizes of the call decide on the order of contractions, both are compiled") {
  // Q (K' V), and (Q K') V streamed; one is copied into the result
  const outline linear = outline_of(specs::quadratic_linear);
  CHECK(linear.kinds == "contraction contraction attention map");
  CHECK(linear.run_time_axes <= 1);
  // (weights U) A, and weights (U A)
  const outline low = outline_of(specs::low_rank);
  CHECK(low.kinds == "contraction attention contraction attention map");
  CHECK(low.run_time_axes <= 1);
}

TEST_CASE("no order of contractions is taken that would store weights") {
  const std::string kinds = outline_of(zoo::landmarks).kinds;
  CHECK(kinds.find("attention contraction") != std::string::npos);
  CHECK(outline_of(zoo::landmarks).run_time_axes <= 1);
}

TEST_CASE("static sizes decide on the order of contractions at once") {
  const auto p = opened(make_program(squeezed));
  const auto orders = orders_of(p);
  REQUIRE(orders.size() == 1);
  CHECK(orders[0].written != orders[0].chosen);
  CHECK(orders[0].other.empty());
  CHECK(outline_of(squeezed).kinds == "contraction contraction");
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
  CHECK(outline_of(scans::elman).kinds == "contraction scan");
  CHECK(outline_of(scans::from_zero).kinds == "scan");
  // an outer product, or the product with a param of more axes, is not: all positions of it would be stored
  CHECK(outline_of(scans::selective).kinds == "scan");
}

TEST_CASE("a product with weights is not a score of another attention") {
  CHECK(outline_of(specs::weights_of_attention).kinds == "attention contraction");
}
