// SPDX-License-Identifier: BSL-1.0
// Statistics of a running state, each computed by itself.
#include "codegen/halide/schedules/one_by_one.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace {

using namespace Halide;

struct parts : Internal::IRVisitor {
  using IRVisitor::visit;
  int loops = 0;
  std::vector<Expr> stored;
  void visit(const Internal::For *op) override {
    ++loops;
    IRVisitor::visit(op);
  }
  void visit(const Internal::Store *op) override { stored.push_back(op->value); }
};

// for y < n: state[y] = select(y == 0, a, y == 1, b, c)
parts lowered(const std::string &loop, const Expr &n) {
  const Expr y = Internal::Variable::make(Int(32), loop), a = 10, b = 20, c = 30;
  const Internal::Stmt store =
      Internal::Store::make("state", select(y == 0, a, y == 1, b, c), y, Parameter(),
                            Internal::const_true(), Internal::ModulusRemainder());
  parts all;
  qkv::codegen::statistics_one_by_one()
      .mutate(Internal::For::make(loop, 0, n, Internal::ForType::Serial, Partition::Auto,
                                  DeviceAPI::None, store))
      .accept(&all);
  return all;
}

}  // namespace

TEST_CASE("each statistic computes its own value") {
  const parts all = lowered("state.s1.merge$y", 3);
  CHECK(all.loops == 0);
  REQUIRE(all.stored.size() == 3);
  for (int k = 0; k < 3; ++k) CHECK(Internal::is_const(all.stored[k], 10 * (k + 1)));
}

TEST_CASE("loops that are long, or over something else, stay") {
  CHECK(lowered("state.s1.merge$y", 64).loops == 1);
  CHECK(lowered("state.s1.merge$x", 3).loops == 1);
  CHECK(lowered("state.s1.merge$y", Internal::Variable::make(Int(32), "n")).loops == 1);
}
