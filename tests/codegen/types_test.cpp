// SPDX-License-Identifier: BSL-1.0
// Element types that a target lacks.
#include <qkv/dsl.hpp>

#include "codegen/emit/pipeline.hpp"
#include "codegen/machines/machines.hpp"
#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"

using namespace qkv;

namespace {

constexpr axis<"seq"> seq;
template <dtype T>
constexpr auto doubled =
    kernel<"doubled">([](in<"X", T, seq> X) -> out<"Y", T, seq> { return X + X; });

template <dtype T>
void lower(const char *target) {
  codegen::lower_pipeline(codegen::plan_on(codegen::plan_of(codegen::make_program(doubled<T>)),
                                           codegen::targets_of(target)[0]));
}

constexpr auto host = "x86-64-v3", opencl = "opencl", cuda = "cuda";

}  // namespace

TEST_CASE("f64 is for CPUs, f16 and bf16 are for every device") {
  CHECK_NOTHROW(lower<f64>(host));
  for (const char *target : {host, opencl, cuda}) {
    CHECK_NOTHROW(lower<bf16>(target));
    CHECK_NOTHROW(lower<f16>(target));
  }
  CHECK_THROWS_WITH(
      lower<f64>(opencl),
      "doubled: X is f64, which no kernel takes on opencl; the CPU's do: TARGETS host");
  CHECK_THROWS_WITH(lower<f64>(cuda),
                    "doubled: X is f64, which no kernel takes on cuda; the CPU's do: TARGETS host");
}
