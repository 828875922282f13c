// SPDX-License-Identifier: BSL-1.0
// Launches of kernels on a GPU: reductions of rows, and what reads them, are one.
#include "codegen/plan/on_machine/row_launches.hpp"

#include <qkv/dsl.hpp>

#include "codegen/emit/pipeline.hpp"
#include "codegen/machines/halide_target.hpp"
#include "codegen/machines/machines.hpp"
#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"

using namespace qkv;
namespace hi = Halide::Internal;

namespace {

constexpr axis<"seq"> seq;
constexpr alias<"kv", seq> kv;
constexpr axis<"d", 48> d;
constexpr axis<"hidden", 96> hidden;
constexpr batch_axis<"batch"> batch;
constexpr batch_axis<"heads", 3> heads;
constexpr axis<"d_k", 16> d_k;

class counting_launches : public hi::IRVisitor {
 public:
  int count = 0;

 private:
  using IRVisitor::visit;
  void visit(const hi::Call *op) override {
    count += op->name == "halide_cuda_run";
    IRVisitor::visit(op);
  }
};

template <class Kernel>
int launches_of(const Kernel &k, const codegen::other_writers &writers = {}) {
  const codegen::machine cuda = codegen::targets_of("cuda")[0];
  const codegen::plan made = codegen::plan_of(codegen::make_program(k));
  codegen::compiled_form form = codegen::lower_pipeline(codegen::plan_on(made, cuda, writers));
  const Halide::Module m =
      form.pipeline.compile_to_module(form.arguments, "f", codegen::halide_target(cuda));
  counting_launches found;
  for (const hi::LoweredFunc &f : m.functions()) f.body.accept(&found);
  return found.count;
}

template <auto F>
int of_rows() {
  return launches_of(
      kernel<"k">([](in<"X", seq, d> X, param<"g", d> g) -> out<"Y", seq, d> { return F(X, g); }));
}

}  // namespace

TEST_CASE("norms and reductions of rows are one launch") {
  CHECK(of_rows<[](auto X, auto g) { return layer_norm<d>(X, g); }>() == 1);
  CHECK(of_rows<[](auto X, auto g) { return rms_norm<d>(X, g); }>() == 1);
  CHECK(launches_of(
            kernel<"k">([](in<"X", seq, d> X) -> out<"Y", seq> { return logsumexp<d>(X); })) == 1);
}

TEST_CASE("means over positions, which threads read side by side, are a launch of their own") {
  CHECK(launches_of(kernel<"k">([](in<"X", seq, d> X) -> out<"Y", d> { return mean<seq>(X); })) ==
        1);
  CHECK(of_rows<[](auto X, auto g) { return (X - mean<seq>(X)) * g; }>() == 2);
}

TEST_CASE("what other launches read is stored") {
  // readers of masked weights compute their condition again, which reads the maximum
  CHECK(launches_of(kernel<"k">([](in<"X", seq, d> X) -> outs<out<"w", seq, d>, out<"e", seq, d>> {
          auto w = plain(softmax<d>(mask(X, X >= max<d>(X) - 2.3f)));
          return {w, w * X};
        })) == 4);
  // a factor of a sample: a thread has an element, not a sample
  CHECK(launches_of(kernel<"k">(
            [](in<"X", batch, seq, d> X, in<"u", batch, hidden> u) -> out<"Y", batch, seq, d> {
              return X * mean<hidden>(u);
            })) == 2);
  CHECK(launches_of(kernel<"k">([](in<"X", seq, d> X) -> outs<out<"m", seq>, out<"Y", seq, d>> {
          auto m = mean<d>(X);
          return {m, X - m};
        })) == 3);
  // the mean of another row
  CHECK(launches_of(kernel<"k">([](in<"X", seq, d> X) -> out<"Y", seq, kv> {
          auto m = mean<d>(X);
          return broadcast<kv>(m) * broadcast<seq>(rename<seq, kv>(m));
        })) == 2);
}

TEST_CASE("a layer of an encoder is nine launches: six contractions, an attention, two norms") {
  const auto layer = kernel<"layer">(
      [](in<"X", batch, seq, d> X, param<"Wq", d, heads, d_k> Wq, param<"Wk", d, heads, d_k> Wk,
         param<"Wv", d, heads, d_k> Wv, param<"Wo", heads, d_k, d> Wo, param<"W1", d, hidden> W1,
         param<"W2", hidden, d> W2, param<"g", d> g, param<"b", d> b) -> out<"Y", batch, seq, d> {
        auto A =
            layer_norm<d>(X + multi_head<d, seq, kv, heads, d_k, d_k>(X, Wq, Wk, Wv, Wo), g, b);
        return layer_norm<d>(A + dot<hidden>(gelu(dot<d>(A, W1)), W2), g, b);
      });
  CHECK(launches_of(layer, {.cuda = true, .plain = {}}) == 9);
}
