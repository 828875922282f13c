// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/pairs_ahead.hpp"

#include <algorithm>
#include <tuple>

#include "codegen/halide/lower/attention_funcs.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using hi::Stmt;

// The lines of an argument that an innermost loop reads along memory.
class pairs_ahead::reader : public lets_reader {
 public:
  argument of;
  std::vector<Expr> lines;
  bool is_innermost = true;

 private:
  using lets_reader::visit;

  void visit(const hi::For *) override { is_innermost = false; }
  void visit(const hi::Load *op) override {
    lets_reader::visit(op);
    const auto *to = op->index.as<hi::Ramp>();
    if (!op->param.defined() || !to || !hi::is_const_one(to->stride)) return;
    if (!lines.empty() && of.name != op->name) return;
    lines.push_back(outside(to->base));
    of = {op->name, op->type, op->param.dimensions()};
  }
};

Stmt pairs_ahead::visit(const hi::LetStmt *op) {
  around_.emplace_back(op);
  Stmt made = IRMutator::visit(op);
  leave();
  return made;
}

// Names of a tile that is left are unknown.
void pairs_ahead::leave() {
  around_.pop_back();
  std::erase_if(next_, [&](const tile &t) { return t.around > around_.size(); });
}

Stmt pairs_ahead::visit(const hi::ProducerConsumer *op) {
  std::size_t &at = op->is_producer ? produced_at_ : consumed_at_;
  const bool is_of_pairs = hi::starts_with(op->name, pair_tile_prefix);
  if (!is_of_pairs || at != 0 || around_.empty()) return IRMutator::visit(op);
  at = around_.size();
  Stmt made = IRMutator::visit(op);
  at = 0;
  return made;
}

Stmt pairs_ahead::visit(const hi::For *op) {
  around_.emplace_back(op);
  Stmt first;
  if (produced_at_ != 0)
    learn(*op);
  else if (consumed_at_ != 0 && hi::ends_with(op->name, ".jo"))
    first = prefetches();
  Stmt body = mutate(op->body);
  leave();
  if (first.defined()) body = hi::Block::make(first, body);
  Stmt made = hi::For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy,
                            op->device_api, body);
  const bool is_inside = std::any_of(around_.begin(), around_.end(), [](const scope &x) {
    return std::holds_alternative<const hi::For *>(x);
  });
  return is_inside ? made : large_.around(made);
}

void pairs_ahead::learn(const hi::For &innermost) {
  reader read;
  innermost.body.accept(&read);
  if (!read.is_innermost) return;
  tile t{read.of, {}, {}, produced_at_};
  for (std::size_t k = produced_at_; k < around_.size(); ++k)
    if (const auto *loop = std::get_if<const hi::For *>(&around_[k]))
      t.loops.push_back({(*loop)->name, before_tile((*loop)->min), before_tile((*loop)->extent)});
  for (const Expr &line : read.lines)
    if (const Expr next = in_next_tile(line); next.defined()) t.lines.push_back(next);
  hi::Scope<> own;
  for (const loop &x : t.loops) own.push(x.name);
  const auto is_known = [&](const Expr &e) {
    return is_computed_at_once(e) && !hi::expr_uses_vars(e, own);
  };
  const bool has_bounds = std::all_of(t.loops.begin(), t.loops.end(), [&](const loop &x) {
    return is_known(x.min) && is_known(x.extent);
  });
  if (!t.lines.empty() && has_bounds) next_.push_back(std::move(t));
}

// In names that are known where the tile is read, too.
Expr pairs_ahead::before_tile(Expr e) const {
  for (std::size_t k = around_.size(); k-- > produced_at_;)
    if (const auto *let = std::get_if<const hi::LetStmt *>(&around_[k]))
      e = hi::substitute((*let)->name, (*let)->value, e);
  return e;
}

// Undefined where the address in the next tile is not known in this one.
Expr pairs_ahead::in_next_tile(Expr address) const {
  address = before_tile(address);
  for (std::size_t k = produced_at_; k-- > 0;) {
    if (const auto *let = std::get_if<const hi::LetStmt *>(&around_[k])) {
      address = hi::substitute((*let)->name, (*let)->value, address);
      continue;
    }
    const hi::For &loop = *std::get<const hi::For *>(around_[k]);
    if (loop.for_type != hi::ForType::Serial) return Expr();
    if (!hi::expr_uses_var(address, loop.name)) continue;
    if (!is_computed_at_once(address)) return Expr();
    const Expr next = hi::Variable::make(loop.min.type(), loop.name) + 1;
    return hi::simplify(hi::substitute(loop.name, next, address));
  }
  return Expr();
}

// The share of this iteration, of all tiles that are next.
Stmt pairs_ahead::prefetches() {
  Expr step = 0, steps = 1;
  for (std::size_t k = consumed_at_; k < around_.size(); ++k)
    if (const auto *loop = std::get_if<const hi::For *>(&around_[k])) {
      const auto &[name, min, extent] = std::tie((*loop)->name, (*loop)->min, (*loop)->extent);
      step = step * extent + (hi::Variable::make(min.type(), name) - min);
      steps = steps * extent;
    }
  std::vector<Stmt> all;
  for (const tile &t : next_) all.push_back(prefetches(t, step, steps));
  next_.clear();
  return all.empty() ? Stmt() : hi::Block::make(all);
}

Stmt pairs_ahead::prefetches(const tile &t, const Expr &step, const Expr &steps) {
  Expr all = 1;
  for (const loop &x : t.loops) all *= x.extent;
  const std::string k = hi::unique_name("ahead");
  const Expr share = hi::simplify((all + steps - 1) / steps),
             number = step * share + hi::Variable::make(Halide::Int(32), k);
  std::vector<Stmt> lines;
  for (const Expr &line : t.lines) lines.push_back(prefetch(t.of.name, t.of.type, line));
  Stmt body = hi::Block::make(lines);
  Expr inside = 1;
  for (auto x = t.loops.rbegin(); x != t.loops.rend(); ++x) {
    const Expr at = x->min + number / inside % x->extent;
    body = hi::LetStmt::make(x->name, hi::simplify(at), body);
    inside *= x->extent;
  }
  body = hi::IfThenElse::make(hi::simplify(number < all), body);
  return hi::IfThenElse::make(
      large_.is_large(t.of.name, t.of.type, t.of.axes),
      hi::For::make(k, 0, share, hi::ForType::Serial, Halide::Partition::Never,
                    Halide::DeviceAPI::None, body));
}

}  // namespace qkv::codegen
