// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/matrix_tiles.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;

using Halide::Expr;
using Halide::Type;

namespace {

constexpr int tile_bytes = 1024, row_bytes = 64;

bool is_named(const hi::For &loop, const std::string &name) {
  return loop.name.ends_with("." + name);
}

Expr i16(int n) { return hi::make_const(Halide::Int(16), n); }
Expr i64(const Expr &e) { return hi::simplify(Halide::cast(Halide::Int(64), e)); }

// How far an index moves when a loop takes one step; undefined where that depends on the step.
Expr step_of(const Expr &index, const std::string &loop) {
  const Expr here = hi::Variable::make(Halide::Int(32), loop);
  const Expr step = hi::simplify(hi::substitute(loop, here + 1, index) - index);
  return hi::expr_uses_var(step, loop) ? Expr() : step;
}

// Four loops, outermost first, around one store, perhaps under a condition that they do not change.
struct loop_nest {
  std::vector<const hi::For *> loops;
  const hi::Store *store = nullptr;
  Expr index, value, condition = hi::const_true();  // names of lets are substituted
  bool varies(const Expr &e) const {
    return std::ranges::any_of(loops, [&](auto *x) { return hi::expr_uses_var(e, x->name); });
  }
};

std::optional<loop_nest> nest_of(const hi::For &outer) {
  loop_nest nest;
  std::vector<std::pair<std::string, Expr>> names;
  hi::Stmt s = &outer;
  while (!s.as<hi::Store>()) {
    if (const auto *loop = s.as<hi::For>()) {
      nest.loops.push_back(loop), s = loop->body;
    } else if (const auto *let = s.as<hi::LetStmt>()) {
      names.emplace_back(let->name, let->value), s = let->body;
    } else if (const auto *choice = s.as<hi::IfThenElse>();
               choice && !choice->else_case.defined()) {
      nest.condition = nest.condition && choice->condition, s = choice->then_case;
    } else {
      return std::nullopt;
    }
  }
  nest.store = s.as<hi::Store>();
  nest.index = nest.store->index, nest.value = nest.store->value;
  for (std::size_t k = names.size(); k-- > 0;)
    for (Expr *e : {&nest.index, &nest.value, &nest.condition})
      *e = hi::substitute(names[k].first, names[k].second, *e);
  nest.condition = hi::simplify(nest.condition);
  if (nest.loops.size() != 4 || !hi::is_const_one(nest.store->predicate) ||
      nest.varies(nest.condition))
    return std::nullopt;
  return nest;
}

// Rows of memory that tiles are made of: where the first begins, and the distance to the next.
struct tile_rows {
  std::string name;
  Expr base, stride;  // in numbers
  Type type;

  Expr at(int row, int column) const { return base + stride * row + column; }
  Expr bytes(const Expr &numbers) const { return i64(numbers * type.bytes()); }
  std::vector<Expr> address(int row, int column) const {
    return {i16(matrix_side), i16(row_bytes), hi::Variable::make(Halide::Handle(), name),
            bytes(at(row, column)), bytes(stride)};
  }
};

Expr load(const tile_rows &x, int row, int column) {
  const bool is_sum = x.type.bits() == 32;
  const Type whole = is_sum ? Halide::Int(8, tile_bytes) : x.type.with_lanes(tile_bytes / 2);
  const Expr tile = hi::Call::make(whole, "tile_load", x.address(row, column), hi::Call::Intrinsic);
  return is_sum ? hi::Reinterpret::make(x.type.with_lanes(tile_bytes / 4), tile) : tile;
}

struct tile_product {
  tile_rows left, right, sums;
  int rows, columns, pairs;
  bool begins_at_zero;
};

const hi::Load *load_of(const Expr &e) {
  const auto *cast = e.as<hi::Cast>();
  return cast && cast->value.type().is_bfloat() ? cast->value.as<hi::Load>() : nullptr;
}

class reads_product {
 public:
  explicit reads_product(const loop_nest &nest) : nest_(nest) {}

  std::optional<tile_product> run() const {
    const auto *sum = nest_.value.as<hi::Add>();
    if (!sum) return std::nullopt;
    const hi::Load *before = sum->a.as<hi::Load>();
    const auto *product = (before ? sum->b : sum->a).as<hi::Mul>();
    if (!before) before = sum->b.as<hi::Load>();
    if (!before || !product || before->name != nest_.store->name ||
        !hi::is_const_zero(hi::simplify(before->index - nest_.index)))
      return std::nullopt;
    const hi::Load *a = load_of(product->a), *b = load_of(product->b);
    if (!a || !b) return std::nullopt;
    if (hi::expr_uses_var(a->index, nest_.loops[1]->name)) std::swap(a, b);
    const auto left = rows_of(*a, a->index, {-1, 0, 2, 1}, 0),
               right = rows_of(*b, b->index, {0, 2, -1, 1}, 2),
               sums = rows_of(*before, nest_.index, {-1, 1, 0, 0}, 0);
    const auto extent = [&](int k) { return hi::as_const_int(nest_.loops[k]->extent); };
    if (!left || !right || !sums || !extent(0) || !extent(1) || !extent(2) || extent(3) != 2)
      return std::nullopt;
    const tile_product found{*left,
                             *right,
                             *sums,
                             static_cast<int>(*extent(0)),
                             static_cast<int>(*extent(1)),
                             static_cast<int>(*extent(2)),
                             is_named(*nest_.loops[1], matrix_loops::first)};
    for (int n : {found.rows, found.columns, found.pairs})
      if (n % matrix_side != 0) return std::nullopt;
    return found;
  }

 private:
  // Empty unless loop k moves the index by steps[k]; loop `free` may move it by any number, the
  // stride.
  std::optional<tile_rows> rows_of(const hi::Load &load, const Expr &index,
                                   const std::vector<int> &steps, std::size_t free) const {
    Expr first = index, stride;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const Expr step = step_of(index, nest_.loops[k]->name);
      if (!step.defined()) return std::nullopt;
      if (k == free)
        stride = step;
      else if (!hi::is_const(step, steps[k]))
        return std::nullopt;
      first = hi::substitute(nest_.loops[k]->name, nest_.loops[k]->min, first);
    }
    if (nest_.varies(stride)) return std::nullopt;
    return tile_rows{load.name, hi::simplify(first), stride, load.type};
  }

  const loop_nest &nest_;
};

// Straight-line code: all sums of the tile are names, which LLVM keeps in tile registers.
class writes_product {
 public:
  explicit writes_product(const tile_product &p) : p_(p) {}

  hi::Stmt run() {
    const int rows = p_.rows / side, columns = p_.columns / side;
    std::vector<Expr> sums;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) sums.push_back(named(before(i, j)));
    for (int k = 0; k < p_.pairs / side; ++k) {
      std::vector<Expr> right;
      for (int j = 0; j < columns; ++j)
        right.push_back(named(load(p_.right, k * side, j * matrix_depth)));
      for (int i = 0; i < rows; ++i) {
        const Expr left = named(load(p_.left, i * side, k * matrix_depth));
        for (int j = 0; j < columns; ++j) {
          Expr &sum = sums[static_cast<std::size_t>(i * columns + j)];
          sum = named(hi::Call::make(sum.type(), "tile_matmul",
                                     {i16(side), i16(row_bytes), i16(row_bytes), sum, left,
                                      right[static_cast<std::size_t>(j)]},
                                     hi::Call::Intrinsic));
        }
      }
    }
    std::vector<hi::Stmt> stores;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        std::vector<Expr> args = p_.sums.address(i * side, j * side);
        args.push_back(sums[static_cast<std::size_t>(i * columns + j)]);
        stores.push_back(hi::Evaluate::make(
            hi::Call::make(Halide::Int(32), "tile_store", args, hi::Call::Intrinsic)));
      }
    hi::Stmt all = hi::Block::make(stores);
    for (std::size_t k = names_.size(); k-- > 0;)
      all = hi::LetStmt::make(names_[k].first, names_[k].second, all);
    return all;
  }

 private:
  static constexpr int side = matrix_side;

  Expr before(int i, int j) const {
    if (!p_.begins_at_zero) return load(p_.sums, i * side, j * side);
    return hi::Call::make(p_.sums.type.with_lanes(tile_bytes / 4), "tile_zero",
                          {i16(side), i16(row_bytes)}, hi::Call::Intrinsic);
  }

  Expr named(const Expr &e) {
    names_.emplace_back(hi::unique_name("tile"), e);
    return hi::Variable::make(e.type(), names_.back().first);
  }

  const tile_product &p_;
  std::vector<std::pair<std::string, Expr>> names_;
};

}  // namespace

hi::Stmt matrix_tiles::visit(const hi::For *op) {
  if (is_named(*op, matrix_loops::zero)) return hi::Evaluate::make(0);
  if (!is_named(*op, matrix_loops::row)) return IRMutator::visit(op);
  const std::optional<loop_nest> nest = nest_of(*op);
  const std::optional<tile_product> product =
      nest ? reads_product(*nest).run() : std::optional<tile_product>();
  if (!product) {
    std::ostringstream loops;
    loops << hi::Stmt(op);
    throw Halide::InternalError("these loops are not a product of matrix tiles: " + loops.str());
  }
  const hi::Stmt made = writes_product(*product).run();
  return hi::is_const_one(nest->condition) ? made : hi::IfThenElse::make(nest->condition, made);
}

}  // namespace qkv::codegen
