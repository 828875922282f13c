// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/prefetched_rows.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/halide/schedules/prefetch.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using hi::Stmt;

namespace {

// Where the rows of one argument begin, in the order in which a step reads them.
struct rows_read {
  Halide::Type type;  // of what a step reads of each: a number, or neighbours
  std::vector<Expr> first;
  int number() const { return static_cast<int>(first.size()); }
  int elements() const { return number() * type.lanes(); }
  int bytes() const { return elements() * type.bytes(); }
  // Longer reads of each row are prefetched by hardware.
  bool is_for_prefetch() const { return number() > 1 && bytes() <= line_bytes; }
};

// The first element that is read: neighbours lie in the order of memory.
Expr first_of(const Expr &index) {
  if (!index.type().is_vector()) return index;
  const auto *ramp = index.as<hi::Ramp>();
  return ramp && hi::is_const_one(ramp->stride) ? ramp->base : Expr();
}

// The rows that a loop reads along its variable, by their argument and by what a step reads.
class reader : public hi::IRGraphVisitor {
 public:
  explicit reader(const std::string &step) : step_(step) {}

  std::map<std::pair<std::string, int>, rows_read> rows;
  bool is_innermost = true;
  bool is_long() const { return nodes_ > most_nodes * stores_; }

 private:
  static constexpr int most_nodes = 40;  // of one store: a sum, a product and their addresses

  using IRGraphVisitor::include;
  using IRGraphVisitor::visit;

  void include(const Expr &e) override {
    ++nodes_;
    IRGraphVisitor::include(e);
  }

  void visit(const hi::For *) override { is_innermost = false; }

  // A prefetch comes before what a step computes: names of a step mean nothing there.
  void visit(const hi::LetStmt *op) override {
    inside_.push(op->name);
    IRGraphVisitor::visit(op);
  }
  void visit(const hi::Let *op) override {
    inside_.push(op->name);
    IRGraphVisitor::visit(op);
  }

  void visit(const hi::Store *op) override {
    ++stores_;
    IRGraphVisitor::visit(op);
  }

  void visit(const hi::Load *op) override {
    IRGraphVisitor::visit(op);
    const Expr index = first_of(op->index);
    if (!op->param.defined() || !index.defined()) return;
    const Expr step = hi::Variable::make(index.type(), step_);
    const Expr first = hi::simplify(index - step * op->type.lanes());
    if (hi::expr_uses_var(first, step_) || hi::expr_uses_vars(first, inside_)) return;
    rows_read &r = rows[{op->name, op->type.lanes()}];
    r.type = op->type;
    const auto is_same = [&](const Expr &e) { return hi::equal(e, first); };
    if (std::none_of(r.first.begin(), r.first.end(), is_same)) r.first.push_back(first);
  }

  const std::string &step_;
  hi::Scope<> inside_;
  int nodes_ = 0, stores_ = 0;
};

// The next rows of so many elements are prefetched in turns of some steps.
Stmt prefetch_next(const std::string &argument, const rows_read &r, const Expr &turn, int steps,
                   int columns) {
  const Expr next = turn * (steps * r.elements()), apart = r.first[1] - r.first[0];
  const Expr at = hi::simplify(r.first[0] + (r.number() + next / columns) * apart + next % columns);
  return prefetch(argument, r.type, at);
}

// Steps that read a line of the cache, and divide all steps.
int steps_of_turn(const rows_read &r, int steps) {
  int n = std::clamp(line_bytes / r.bytes(), 1, steps);
  while (steps % n != 0) --n;
  return n;
}

}  // namespace

Stmt prefetched_rows::visit(const hi::For *op) {
  if (is_left_alone(*op)) return op;
  reader read(op->name);
  op->body.accept(&read);
  if (!read.is_innermost) return IRMutator::visit(op);
  const auto extent = hi::as_const_int(op->extent);
  if (op->for_type != hi::ForType::Serial || !extent || !hi::is_const_zero(op->min)) return op;
  const auto found = std::find_if(read.rows.begin(), read.rows.end(),
                                  [](const auto &x) { return x.second.is_for_prefetch(); });
  if (found == read.rows.end()) return op;
  const auto &[argument, rows] = *found;
  const int steps = static_cast<int>(*extent),
            together = read.is_long() ? 1 : steps_of_turn(rows, steps);
  const Expr turn = hi::Variable::make(op->min.type(), op->name);
  std::vector<Stmt> body = {
      prefetch_next(argument.first, rows, turn, together, steps * rows.type.lanes())};
  for (int k = 0; k < together; ++k)
    body.push_back(hi::substitute(op->name, hi::simplify(turn * together + k), op->body));
  return hi::For::make(op->name, op->min, steps / together, op->for_type, op->partition_policy,
                       op->device_api, hi::Block::make(body));
}

}  // namespace qkv::codegen
