// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/pair_stores.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace qkv::codegen {

namespace hi = Halide::Internal;

using Halide::Expr;

namespace {

const std::string call_name = "qkv_storing";

// Takes calls out of a value, innermost first.
class calls_of : public hi::IRMutator {
 public:
  std::vector<std::vector<Expr>> found;  // the arguments of each

 private:
  using IRMutator::visit;
  Expr visit(const hi::Call *op) override {
    if (op->name != call_name) return IRMutator::visit(op);
    std::vector<Expr> args;
    for (const Expr &e : op->args) args.push_back(mutate(e));
    found.push_back(args);
    return args[0];
  }
};

Expr scalar(const Expr &e) {
  const auto *same = e.as<hi::Broadcast>();
  return same ? same->value : e;
}

hi::Stmt store_of(const std::vector<Expr> &args, const Expr &number, const hi::Load &to,
                  const Halide::Parameter &memory) {
  const Expr is_there = args[3];
  const auto store = [&](const Expr &e) {
    return hi::Store::make(to.name, e, to.index, memory, is_there, to.alignment);
  };
  const Expr is_first = scalar(args[4]);
  if (hi::is_const_one(is_first)) return store(number);
  const hi::Stmt add = store(
      number + hi::Load::make(to.type, to.name, to.index, {}, memory, is_there, to.alignment));
  if (hi::is_const_zero(is_first)) return add;
  return hi::IfThenElse::make(is_first, store(number), add);
}

}  // namespace

Expr storing(const Expr &value, const Expr &number, const Expr &element, const Expr &is_there,
             const Expr &is_first) {
  return hi::Call::make(value.type(), call_name, {value, number, element, is_there, is_first},
                        hi::Call::Extern);
}

stores_beside::stores_beside(const std::vector<Halide::Func> &results) {
  for (const Halide::Func &f : results) memory_.emplace(f.name(), f.output_buffer().parameter());
}

hi::Stmt stores_beside::visit(const hi::Store *op) {
  calls_of any;
  any.mutate(op->value);
  if (any.found.empty()) return op;
  calls_of calls;  // without lets, whose names the stores would not know
  const Expr value = calls.mutate(hi::substitute_in_all_lets(op->value));
  // All values are computed before the first store, which compilers cannot move reads across.
  const std::string name = hi::unique_name("value");
  hi::Stmt body = hi::Store::make(op->name, hi::Variable::make(value.type(), name), op->index,
                                  op->param, op->predicate, op->alignment);
  std::vector<std::pair<std::string, Expr>> numbers;
  for (const std::vector<Expr> &args : calls.found) {
    numbers.emplace_back(hi::unique_name("number"), args[1]);
    const Expr number = hi::Variable::make(args[1].type(), numbers.back().first);
    const auto *to = args[2].as<hi::Load>();
    if (!to) throw std::logic_error("a store beside a value: its element is not a load");
    body = hi::Block::make(store_of(args, number, *to, memory_.at(to->name)), body);
  }
  for (auto &[number, e] : numbers) body = hi::LetStmt::make(number, e, body);
  return hi::LetStmt::make(name, value, body);
}

}  // namespace qkv::codegen
