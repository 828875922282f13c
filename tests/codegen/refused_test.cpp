// SPDX-License-Identifier: BSL-1.0
// Kernels that the language accepts but that cannot be built: one line names the kernel, the step
// and the reason.
#include <qkv/dsl.hpp>

#include "codegen/emit/pipeline.hpp"
#include "codegen/halide/lower/refusal.hpp"
#include "codegen/machines/machines.hpp"
#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"

using namespace qkv;

namespace {

constexpr axis<"seq"> seq;
constexpr axis<"d", 9> d;
constexpr axis<"e", 4> e;

template <class Kernel>
void lower(const Kernel &k) {
  codegen::lower_pipeline(codegen::plan_on(codegen::plan_of(codegen::make_program(k)),
                                           codegen::targets_of("x86-64-v3")[0]));
}

}  // namespace

TEST_CASE("an axis of the call that no argument carries") {
  constexpr auto nowhere = kernel<"nowhere">([](in<"s", d> s) -> out<"Y", d> {
    return scan<seq>(s, [](auto state) { return state * 2; }).last;
  });
  CHECK_THROWS_WITH(lower(nowhere), "nowhere: axis seq has no size: no argument carries it");
}

TEST_CASE("steps of a scan that fold numbers of another type, and scans in scans") {
  constexpr auto counts = kernel<"counts">([](in<"X", seq, d> X, in<"s", d> s) -> out<"Y", seq, d> {
    return scan<seq>(
               s,
               [](auto state, auto x) {
                 return x + broadcast<d>(cast<f32>(sum<d>(where(state > x, 1, 0))));
               },
               X)
        .result;
  });
  CHECK_THROWS_WITH(lower(counts),
                    "counts: a step of scan<seq> folds i32 numbers; its state is f32");
  constexpr auto nested = kernel<"nested">([](in<"X", seq, d> X, in<"s"> s) -> out<"Y", seq> {
    return scan<seq>(
               s,
               [](auto state, auto x) {
                 return scan<d>(state, [](auto a, auto b) { return a + b; }, x).last;
               },
               X)
        .result;
  });
  CHECK_THROWS_WITH(lower(nested), "nested: scan<d> is inside a step of scan<seq>");
}

TEST_CASE("a constant that is no i32") {
  constexpr auto large =
      kernel<"large">([](in<"n", i32, d> n) -> out<"Y", i32, d> { return n + 3000000000; });
  CHECK_THROWS_WITH(codegen::make_program(large),
                    "large: 3000000000 in n + 3000000000 is not an i32");
}

TEST_CASE("a constant position outside of its table") {
  constexpr auto last =
      kernel<"last">([](in<"X", seq, d> X) -> out<"Y", d> { return take<seq>(X, -1); });
  CHECK_THROWS_WITH(codegen::make_program(last),
                    "last: take<seq>(X, -1): positions count from 0; the last is size(seq) - 1");
  constexpr auto beyond =
      kernel<"beyond">([](in<"X", seq, d> X) -> out<"Y", seq> { return take<d>(X, 64); });
  CHECK_THROWS_WITH(codegen::make_program(beyond),
                    "beyond: take<d>(X, 64): d has 9 positions, the last is 8");
  constexpr auto after =
      kernel<"after">([](in<"X", seq, d> X) -> out<"Y", seq, e> { return slice<d, e>(X, 9); });
  CHECK_THROWS_WITH(codegen::make_program(after),
                    "after: take<d>(X, index(e) + 9): d has 9 positions, the last is 8");
  constexpr auto right = kernel<"right">([](in<"X", seq, d> X) -> outs<out<"A", d>, out<"B", seq>> {
    return {take<seq>(X, size(seq) - 1), take<d>(X, 0)};
  });
  CHECK_NOTHROW(codegen::make_program(right));
}

TEST_CASE("what Halide refuses is one line that names the step") {
  constexpr auto product = kernel<"product">(
      [](in<"X", seq, d> X, in<"W", d> W) -> out<"Y", seq> { return dot<d>(X, W); });
  const codegen::program p = codegen::make_program(product);
  const Halide::CompileError tile("Error: Bounds of sum_dot2\n  are wrong.\n");
  CHECK(codegen::refusal(p, -1, tile) == "product: dot(X, W): Bounds of sum_dot2 are wrong.");
  CHECK(codegen::refusal(p, 2, tile) == "product: dot(X, W): Bounds of sum_dot2 are wrong.");
  const Halide::InternalError other("Internal Error at a.cpp:7 Condition failed: dot23\n");
  CHECK(codegen::refusal(p, -1, other) == "product: a.cpp:7 Condition failed: dot23");
}
