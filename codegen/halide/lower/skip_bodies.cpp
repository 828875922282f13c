// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/skip_bodies.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;

namespace {

const std::string mark = "qkv_of_whole_body";

bool is_marked(const hi::Call *op) { return op->name == mark; }

// The names that a statement defines.
class definitions : public hi::IRVisitor {
  using IRVisitor::visit;
  void visit(const hi::Let *op) override { names.insert(op->name), IRVisitor::visit(op); }
  void visit(const hi::LetStmt *op) override { names.insert(op->name), IRVisitor::visit(op); }
  void visit(const hi::For *op) override { names.insert(op->name), IRVisitor::visit(op); }
  void visit(const hi::Allocate *op) override { names.insert(op->name), IRVisitor::visit(op); }

 public:
  std::set<std::string> names;
};

class reads_one_of : public hi::IRVisitor {
  using IRVisitor::visit;
  void visit(const hi::Variable *op) override { found = found || names_.count(op->name) > 0; }
  void visit(const hi::Load *op) override {
    found = found || names_.count(op->name) > 0;
    IRVisitor::visit(op);
  }
  const std::set<std::string> &names_;

 public:
  explicit reads_one_of(const std::set<std::string> &names) : names_(names) {}
  bool found = false;
};

// Marked conditions of a body: as they stand there, and made of what is known before it.
class conditions_of : public hi::IRVisitor {
  using IRVisitor::visit;
  void visit(const hi::LetStmt *op) override {
    op->value.accept(this);
    values_[op->name] = op->value;
    op->body.accept(this);
  }
  void visit(const hi::Call *op) override {
    if (is_marked(op)) all.push_back({op->args[0], before(op->args[0])});
    IRVisitor::visit(op);
  }
  Expr before(Expr e) const {
    for (Expr last; !last.same_as(e);) {
      last = e;
      e = hi::substitute(values_, e);
    }
    return e;
  }
  std::map<std::string, Expr> values_;

 public:
  struct condition {
    Expr here, before;
  };
  std::vector<condition> all;
};

class without_conditions : public hi::IRMutator {
  using IRMutator::visit;
  Expr visit(const hi::Call *op) override {
    const bool is_known =
        is_marked(op) && std::any_of(known_.begin(), known_.end(),
                                     [&](const Expr &e) { return hi::equal(e, op->args[0]); });
    return is_known ? hi::const_true() : IRMutator::visit(op);
  }
  const std::vector<Expr> &known_;

 public:
  explicit without_conditions(const std::vector<Expr> &known) : known_(known) {}
};

}  // namespace

Expr of_whole_body(const Expr &condition) {
  return hi::Call::make(Halide::Bool(), mark, {condition}, hi::Call::PureExtern);
}

hi::Stmt skip_bodies::visit(const hi::For *op) {
  definitions inside;
  op->body.accept(&inside);
  conditions_of marked;
  op->body.accept(&marked);
  Expr wanted;
  std::vector<Expr> known;
  for (const conditions_of::condition &c : marked.all) {
    reads_one_of reads(inside.names);
    c.before.accept(&reads);
    if (reads.found) continue;
    if (!wanted.defined()) wanted = c.before;
    if (hi::equal(wanted, c.before)) known.push_back(c.here);
  }
  if (!wanted.defined()) return IRMutator::visit(op);
  const hi::Stmt rest = hi::simplify(without_conditions(known).mutate(op->body));
  return hi::For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy,
                       op->device_api, hi::IfThenElse::make(wanted, mutate(rest)));
}

// Where no loop has all operands, the condition stays.
Expr skip_bodies::visit(const hi::Call *op) {
  return is_marked(op) ? mutate(op->args[0]) : IRMutator::visit(op);
}

}  // namespace qkv::codegen
