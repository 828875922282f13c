// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/shrink_registers.hpp"

#include <algorithm>
#include <stdexcept>

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using hi::Stmt;

namespace {

Expr simple(const Expr &e) { return hi::simplify(hi::common_subexpression_elimination(e)); }

// The cells that a constant index or ramp names; none when it is not constant.
std::vector<std::int64_t> constants(const Expr &e) {
  if (auto c = hi::as_const_int(e)) return {*c};
  std::vector<std::int64_t> cells;
  if (const hi::Ramp *r = e.as<hi::Ramp>()) {
    const auto base = hi::as_const_int(r->base), stride = hi::as_const_int(r->stride);
    for (int k = 0; base && stride && k < r->lanes; ++k) cells.push_back(*base + *stride * k);
  }
  if (const hi::Broadcast *b = e.as<hi::Broadcast>())
    if (auto c = hi::as_const_int(b->value)) cells.assign(b->lanes, *c);
  return cells;
}

}  // namespace

Expr shrink_registers::with_lets(Expr e) const {
  for (std::size_t k = lets_.size(); k-- > 0;)
    if (hi::expr_uses_var(e, lets_[k].first))
      e = hi::substitute(lets_[k].first, lets_[k].second, e);
  return e;
}

Expr shrink_registers::at_thread(Expr e, int sample) const {
  int direction = 1;
  for (const auto &[name, extent] : threads_) {
    const int id = sample == samples - 1 ? extent - 1
                   : sample == direction ? std::min(1, extent - 1)
                                         : 0;
    e = hi::substitute(name, id, e);
    ++direction;
  }
  return simple(e);
}

std::array<bool, shrink_registers::samples> shrink_registers::let_in_by(const Expr &guard) const {
  const Expr full = with_lets(guard);
  std::array<bool, samples> runs;
  for (int s = 0; s < samples; ++s) runs[s] = !hi::is_const_zero(at_thread(full, s));
  return runs;
}

// Every access of a thread must lie at the same distance from that of the first thread: then cells
// never cross threads.
void shrink_registers::check_shift(const std::string &name, tile &t, const Expr &index,
                                   std::int64_t first) {
  const hi::Ramp *r = index.as<hi::Ramp>();
  const Expr base = r ? r->base : index;
  t.shift.resize(samples);
  t.known.resize(samples);
  for (int s = 1; s < samples; ++s) {
    if (!std::all_of(runs_.begin(), runs_.end(), [&](const auto &runs) { return runs[s]; }))
      continue;
    const auto c = hi::as_const_int(at_thread(base, s));
    if (!c || (t.known[s] && t.shift[s] != *c - first))
      throw std::runtime_error("register tile " + name +
                               " is not split over the threads in one way");
    t.shift[s] = *c - first;
    t.known[s] = true;
  }
}

Expr shrink_registers::place_of(const std::string &name, const Expr &index) {
  tile &t = tiles_[name];
  const Expr full = with_lets(index);
  const auto cells = constants(at_thread(full, 0));
  if (cells.empty())
    throw std::runtime_error("register tile " + name +
                             " is not indexed by constants within a thread");
  if (t.collecting) {
    t.cells.insert(cells.begin(), cells.end());
    check_shift(name, t, full, cells[0]);
    return index;
  }
  const int base = t.place.at(cells[0]);
  if (cells.size() == 1) return base;
  const int stride = t.place.at(cells[1]) - base;
  for (std::size_t k = 1; k < cells.size(); ++k)
    if (t.place.at(cells[k]) != base + stride * static_cast<int>(k))
      throw std::runtime_error("register tile " + name +
                               ": a vector's lanes are not evenly spaced");
  if (stride == 0) return hi::Broadcast::make(base, static_cast<int>(cells.size()));
  return hi::Ramp::make(base, stride, static_cast<int>(cells.size()));
}

Stmt shrink_registers::visit(const hi::For *op) {
  const bool thread = op->for_type == hi::ForType::GPUThread;
  // Parallel loops around the block belong to the grid: definitions between them may be offsets.
  const bool grid = op->for_type == hi::ForType::GPUBlock || op->for_type == hi::ForType::Parallel;
  hi::ScopedValue<bool> around(in_grid_, in_grid_ || grid);
  hi::ScopedValue<bool> inside(in_thread_, in_thread_ || thread);
  if (grid && !around.old_value) threads_.clear();
  if (thread) threads_[op->name] = static_cast<int>(hi::as_const_int(op->extent).value_or(1));
  return IRMutator::visit(op);
}

Stmt shrink_registers::visit(const hi::LetStmt *op) {
  if (!in_grid_) return IRMutator::visit(op);
  lets_.emplace_back(op->name, op->value);
  Stmt s = IRMutator::visit(op);
  lets_.pop_back();
  return s;
}

Expr shrink_registers::visit(const hi::Let *op) {
  if (!in_grid_) return IRMutator::visit(op);
  lets_.emplace_back(op->name, op->value);
  Expr e = IRMutator::visit(op);
  lets_.pop_back();
  return e;
}

Stmt shrink_registers::visit(const hi::IfThenElse *op) {
  if (!in_thread_ || tiles_.empty()) return IRMutator::visit(op);
  const Expr condition = mutate(op->condition);
  runs_.push_back(let_in_by(op->condition));
  Stmt then = mutate(op->then_case);
  runs_.pop_back();
  Stmt otherwise;
  if (op->else_case.defined()) {
    runs_.push_back(let_in_by(!op->condition));
    otherwise = mutate(op->else_case);
    runs_.pop_back();
  }
  return hi::IfThenElse::make(condition, then, otherwise);
}

// Twice over the body: to learn which cells a thread touches, then to renumber them.
Stmt shrink_registers::visit(const hi::Allocate *op) {
  if (!in_grid_ || in_thread_ || op->memory_type != Halide::MemoryType::Register)
    return IRMutator::visit(op);
  tiles_[op->name] = {};
  mutate(op->body);
  tile &t = tiles_[op->name];
  for (std::int64_t cell : t.cells) t.place.emplace(cell, static_cast<int>(t.place.size()));
  t.collecting = false;
  Stmt body = mutate(op->body);
  const int size = static_cast<int>(t.cells.size());
  tiles_.erase(op->name);
  return hi::Allocate::make(op->name, op->type, op->memory_type, {Expr(size)}, op->condition, body);
}

Expr shrink_registers::visit(const hi::Load *op) {
  if (!tiles_.count(op->name)) return IRMutator::visit(op);
  return hi::Load::make(op->type, op->name, place_of(op->name, op->index), op->image, op->param,
                        op->predicate, hi::ModulusRemainder());
}

Stmt shrink_registers::visit(const hi::Store *op) {
  if (!tiles_.count(op->name)) return IRMutator::visit(op);
  return hi::Store::make(op->name, mutate(op->value), place_of(op->name, op->index), op->param,
                         op->predicate, hi::ModulusRemainder());
}

}  // namespace qkv::codegen
