// SPDX-License-Identifier: BSL-1.0
// The stages that loops of C++ compute, and the reasons why Halide computes others.
#include <qkv/dsl.hpp>

#include <string>
#include <vector>

#include "codegen/emit/pipeline.hpp"
#include "codegen/machines/machines.hpp"
#include "codegen/program/from_graph.hpp"
#include "codegen/program/text.hpp"
#include "tests/catch.hpp"

using namespace qkv;

namespace {

constexpr axis<"seq"> seq;
constexpr axis<"kv"> kv;
constexpr axis<"d", 8> d;
constexpr axis<"e", 4> e;
using lines = std::vector<std::string>;

// "Y by loops", or "Y: why not".
template <class Kernel>
lines stages_of(const Kernel &k, const codegen::plain_choice &plain = {true, {}},
                const char *machine = "x86-64-v3") {
  const codegen::plan made = codegen::plan_of(codegen::make_program(k));
  lines all;
  for (const codegen::stage_by_loops &s :
       codegen::lower_pipeline(
           codegen::plan_on(made, codegen::targets_of(machine)[0], {false, plain}), "loops")
           .loops)
    all.push_back(codegen::label_of(made.p, s.root) +
                  (s.text.empty() ? ": " + s.otherwise : " by loops"));
  return all;
}

constexpr auto projected = kernel<"projected">(
    [](in<"X", seq, d> X, param<"W", d, e> W) -> outs<out<"Y", seq, e>, out<"m", seq>> {
      return {dot<d>(X, W), max<d>(X)};
    });

}  // namespace

TEST_CASE("loops compute maps, reductions and contractions") {
  CHECK(stages_of(projected) == lines{"max<d>(X) by loops", "Y by loops", "m by loops"});
  CHECK(stages_of(projected, {false, {1}}) == lines{"Y by loops"});
  CHECK(stages_of(projected, {}).empty());
  CHECK(stages_of(projected, {true, {}}, "opencl").empty());
}

TEST_CASE("Halide computes what loops cannot, with a reason") {
  CHECK(stages_of(kernel<"attention">(
            [](in<"Q", seq, d> Q, in<"K", kv, d> K, in<"V", kv, e> V) -> out<"O", seq, e> {
              return dot<kv>(softmax<kv>(dot<d>(Q, K)), V);
            })) == lines{"O: loops compute maps and contractions, not attention stages"});
  CHECK(stages_of(kernel<"running">([](in<"X", seq, d> X) -> out<"Y", seq, d> {
          return cumsum<seq>(X);
        })) == lines{"cumsum<seq>(X): loops do not compute cumsum", "Y by loops"});
  CHECK(stages_of(kernel<"waves">([](in<"X", seq, d> X) -> out<"Y", seq, d> { return cos(X); })) ==
        lines{"Y: C++ has no text for cos_f32"});
  CHECK(stages_of(kernel<"wide">([](in<"X", f64, seq, d> X) -> out<"Y", f64, seq, d> {
          return X * 2;
        })) == lines{"Y: printed code has no numbers of another type"});
  CHECK_THROWS_WITH(
      stages_of(kernel<"waves">([](in<"X", seq, d> X) -> out<"Y", seq, d> { return cos(X); }),
                {false, {0}}),
      "waves: stage 1, Y: C++ has no text for cos_f32");
}
