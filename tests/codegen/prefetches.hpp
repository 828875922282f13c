// SPDX-License-Identifier: BSL-1.0
#pragma once
// The prefetches of lowered code.
#include <Halide.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace prefetches {

struct prefetch {
  std::vector<std::string> loops;        // around it, outermost first
  std::string turn, tile;                // names of the innermost and of the outermost of them
  int turns = 0;                         // of the innermost loop; 0: its number is not a constant
  Halide::Expr at;                       // the element of the argument
  std::vector<Halide::Expr> conditions;  // around it, outermost first
  std::string condition;                 // the innermost one
  std::string is_large;                  // the meaning of that name there
};

// The number of a float of `A`, from its address.
inline Halide::Expr element_of(const Halide::Expr &address) {
  const auto *pointer = address.as<Halide::Internal::Reinterpret>();
  REQUIRE(pointer);
  const auto *sum = pointer->value.as<Halide::Internal::Add>();
  REQUIRE(sum);
  const auto *begin = sum->a.as<Halide::Internal::Reinterpret>();
  REQUIRE(begin);
  const auto *argument = begin->value.as<Halide::Internal::Variable>();
  REQUIRE(argument);
  CHECK(argument->name == "A");
  return sum->b / Halide::Expr(int64_t{sizeof(float)});
}

// A lowering pass that changes nothing.
struct finder : Halide::Internal::IRMutator {
  using IRMutator::visit;
  std::vector<prefetch> found;

 private:
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override {
    loops_.push_back(op);
    Halide::Internal::Stmt same = IRMutator::visit(op);
    loops_.pop_back();
    return same;
  }
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *op) override {
    lets_.push_back(op);
    Halide::Internal::Stmt same = IRMutator::visit(op);
    lets_.pop_back();
    return same;
  }
  Halide::Expr visit(const Halide::Internal::Call *op) override {
    if (op->name != "llvm.prefetch.p0") return IRMutator::visit(op);
    Halide::Expr at = element_of(op->args[0]);
    const int hints[] = {0, 3, 1};  // for reading, into all caches, of data
    for (int k = 0; k < 3; ++k) CHECK(Halide::Internal::is_const(op->args[k + 1], hints[k]));
    for (std::size_t k = lets_.size(); k-- > 0;)
      at = Halide::Internal::substitute(lets_[k]->name, lets_[k]->value, at);
    const Halide::Internal::For &loop = *loops_.back();
    const auto turns = Halide::Internal::as_const_int(loop.extent);
    std::ostringstream condition, is_large;
    if (!conditions_.empty()) condition << conditions_.back();
    for (const Halide::Internal::LetStmt *let : lets_)
      if (let->name.find(".is_large") != let->name.npos) is_large << let->value;
    std::vector<std::string> names;
    for (const Halide::Internal::For *around : loops_) names.push_back(around->name);
    found.push_back({names, loop.name, loops_.front()->name, static_cast<int>(turns.value_or(0)),
                     at, conditions_, condition.str(), is_large.str()});
    return op;
  }
  Halide::Internal::Stmt visit(const Halide::Internal::IfThenElse *op) override {
    conditions_.push_back(op->condition);
    mutate(op->then_case);
    conditions_.pop_back();
    if (op->else_case.defined()) mutate(op->else_case);
    return op;
  }
  std::vector<Halide::Expr> conditions_;
  std::vector<const Halide::Internal::For *> loops_;
  std::vector<const Halide::Internal::LetStmt *> lets_;
};

}  // namespace prefetches
