// SPDX-License-Identifier: BSL-1.0
// Which of Halide's checks a kernel keeps.
#include "codegen/halide/schedules/argument_checks.hpp"

#include <set>
#include <string>

#include "tests/catch.hpp"

namespace {

using namespace Halide;

// The functions that failed checks call.
struct errors : Internal::IRMutator {
  using IRMutator::visit;
  std::set<std::string> names;
  Internal::Stmt visit(const Internal::AssertStmt *op) override {
    Expr message = op->message;
    while (const auto *let = message.as<Internal::Let>()) message = let->body;
    if (const auto *call = message.as<Internal::Call>()) names.insert(call->name);
    return IRMutator::visit(op);
  }
};

std::set<std::string> checks_of(const char *target, bool removed) {
  ImageParam A(Float(32), 2, "A");
  Param<int> n("n");
  Func out("out"), doubled("doubled");
  Var x("x"), y("y");
  doubled(x, y) = A(x, y) * 2.f;
  out(x, y) = doubled(x, y) + doubled(x + 1, y);
  doubled.compute_root();
  Pipeline p(out);
  p.add_requirement(n < 7, "too_large: n");
  if (removed)
    p.add_custom_lowering_pass(new qkv::codegen::without_argument_checks({"A", out.name()}));
  errors seen;
  p.add_custom_lowering_pass(&seen, [] {});
  p.compile_to_module({A, n}, "k", Target(target));
  return seen.names;
}

Internal::Stmt too_large(const std::string &buffer) {
  return Internal::AssertStmt::make(
      Internal::Variable::make(Bool(), "fits"),
      Internal::Call::make(Int(32), "halide_error_buffer_allocation_too_large",
                           {Expr(buffer), Expr(1), Expr(2)}, Internal::Call::Extern));
}

}  // namespace

TEST_CASE("a kernel has no checks of arguments, which the runtime makes") {
  CHECK(checks_of("x86-64-linux-no_runtime", false).size() > 6);
  CHECK(checks_of("x86-64-linux-no_runtime-no_bounds_query", true) ==
        std::set<std::string>{"halide_error_requirement_failed"});
}

TEST_CASE("sizes of what a kernel allocates are checked") {
  qkv::codegen::without_argument_checks pass({"K"});
  CHECK(pass.mutate(too_large("K")).as<Internal::AssertStmt>() == nullptr);
  CHECK(pass.mutate(too_large("scores")).as<Internal::AssertStmt>() != nullptr);
}
