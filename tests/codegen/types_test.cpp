// Element types that a target lacks.
#include <qkv/dsl.hpp>

#include "codegen/lower/pipeline.hpp"
#include "codegen/program/from_graph.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "tests/catch.hpp"

using namespace qkv;

namespace {

constexpr axis<"seq"> seq;
constexpr auto doubled =
    kernel<"doubled">([](in<"X", f64, seq> X) -> out<"Y", f64, seq> { return X + X; });

}  // namespace

TEST_CASE("f64 is for the CPU") {
  const codegen::program p = codegen::simplified(codegen::make_program(doubled));
  CHECK_NOTHROW(codegen::lower_pipeline(p, Halide::Target("x86-64-linux-avx2")));
  CHECK_THROWS_WITH(
      codegen::lower_pipeline(p, Halide::Target("x86-64-linux-opencl")),
      "doubled: X is f64, which kernels of the CPU compute; leave out cuda and opencl");
}
