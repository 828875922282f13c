// SPDX-License-Identifier: BSL-1.0
// Loops over some rows of an argument prefetch the rows of the next register tile.
#include "codegen/halide/schedules/prefetched_rows.hpp"

#include <string>
#include <vector>

#include "codegen/halide/lower/attention_funcs.hpp"
#include "tests/catch.hpp"

using namespace Halide;
namespace hi = Halide::Internal;

namespace {

constexpr int columns = 24, all_rows = 32;

struct prefetch {
  std::string turn, tile;  // names of loops
  int turns = 0;
  Expr at;
};

// The number of an element of `A`, from its address.
Expr element_of(const Expr &address) {
  const auto *pointer = address.as<hi::Reinterpret>();
  REQUIRE(pointer);
  const auto *sum = pointer->value.as<hi::Add>();
  REQUIRE(sum);
  return sum->b / Expr(int64_t{sizeof(float)});
}

// The prefetches, with the loops around them.
struct finder : hi::IRMutator {
  using IRMutator::visit;
  std::vector<prefetch> found;

 private:
  hi::Stmt visit(const hi::For *op) override {
    loops_.push_back(op);
    hi::Stmt same = IRMutator::visit(op);
    loops_.pop_back();
    return same;
  }
  hi::Stmt visit(const hi::LetStmt *op) override {
    lets_.push_back(op);
    hi::Stmt same = IRMutator::visit(op);
    lets_.pop_back();
    return same;
  }
  Expr visit(const hi::Call *op) override {
    if (op->name != "llvm.prefetch.p0") return IRMutator::visit(op);
    Expr at = element_of(op->args[0]);
    for (std::size_t k = lets_.size(); k-- > 0;)
      at = hi::substitute(lets_[k]->name, lets_[k]->value, at);
    const hi::For &loop = *loops_.back();
    found.push_back(
        {loop.name, loops_.front()->name, static_cast<int>(*hi::as_const_int(loop.extent)), at});
    return op;
  }
  std::vector<const hi::For *> loops_;
  std::vector<const hi::LetStmt *> lets_;
};

// A times b for each row, so many rows at a time: `term` of a number of each. Checks the results.
std::vector<prefetch> prefetches(int rows, Expr (*term)(Expr, Expr), bool is_argument = true,
                                 const std::string &loop = "k") {
  Buffer<float> a(columns, all_rows), b(columns);
  for (int i = 0; i < all_rows; ++i)
    for (int k = 0; k < columns; ++k) a(k, i) = static_cast<float>((7 * i + 3 * k) % 11 - 5);
  for (int k = 0; k < columns; ++k) b(k) = static_cast<float>(k % 5 - 2);
  ImageParam A(Float(32), 2, "A"), B(Float(32), 1, "B");
  A.dim(0).set_bounds(0, columns);
  A.dim(1).set_bounds(0, all_rows).set_stride(columns);
  const Var i("i"), tile("tile"), row("row"), x("x");
  Func stored("stored");
  stored(x, i) = A(x, i);
  if (!is_argument) stored.compute_root();
  const RDom k(0, columns, loop);
  const auto product = [&](Func &sum, Func &out, const Func &of) {
    sum(i) = 0.0f;
    sum(i) += term(of(k, i), B(k));
    out(i) = sum(i);
  };
  Func sum("sum"), out("out"), plain_sum("plain_sum"), plain("plain");
  product(sum, out, stored);
  out.bound(i, 0, all_rows).split(i, tile, row, rows).unroll(row);
  sum.compute_at(out, tile).unroll(i);
  sum.update().reorder(i, k).unroll(i);
  Pipeline p(out);
  finder seen;
  p.add_custom_lowering_pass(new qkv::codegen::prefetched_rows);
  p.add_custom_lowering_pass(&seen, [] {});
  A.set(a), B.set(b);
  const Buffer<float> result = p.realize({all_rows});
  plain_sum.compute_root();
  product(plain_sum, plain, stored);
  const Buffer<float> right = plain.realize({all_rows});
  for (int r = 0; r < all_rows; ++r) CHECK(result(r) == right(r));
  return seen.found;
}

Expr product_of(Expr x, Expr y) { return x * y; }
Expr long_term(Expr x, Expr y) {
  for (int k = 0; k < 40; ++k) x = x * y + (x - y) * static_cast<float>(k % 3);
  return min(max(x, -1.0f), 1.0f);
}

// Where in `A` the prefetch of this turn of the second tile of rows begins.
int position(const prefetch &x, int turn, int rows) {
  const Expr at = hi::simplify(hi::substitute(x.tile, 1, hi::substitute(x.turn, turn, x.at)));
  INFO(at);
  REQUIRE(hi::as_const_int(at));
  return static_cast<int>(*hi::as_const_int(at)) - 2 * rows * columns;
}

}  // namespace

TEST_CASE("the next rows are prefetched, a line at a time") {
  const auto found = prefetches(4, product_of);
  REQUIRE(found.size() == 1);
  CHECK(found[0].turns == 6);  // each of 4 steps, which read 16 numbers
  for (int t = 0; t < 6; ++t) CHECK(position(found[0], t, 4) == 16 * t);
}

TEST_CASE("rows that do not divide a line are prefetched a little ahead of their pace") {
  const auto found = prefetches(6, product_of);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].turns == 12);
  for (int t = 0; t < 12; ++t) CHECK(position(found[0], t, 6) == 12 * t);
}

TEST_CASE("rows that lie in cache are not prefetched") {
  CHECK(prefetches(4, product_of, true, "k_" + qkv::codegen::in_cache_name).empty());
}

TEST_CASE("long steps are not unrolled") {
  const auto found = prefetches(4, long_term);
  REQUIRE(found.size() == 1);
  CHECK(found[0].turns == columns);
  for (int t = 0; t < columns; ++t) CHECK(position(found[0], t, 4) == 4 * t);
}

TEST_CASE("a single row, or rows that are stored, are not prefetched") {
  CHECK(prefetches(1, product_of).empty());
  CHECK(prefetches(4, product_of, false).empty());
}

TEST_CASE("rows whose beginning a step computes are not prefetched: it comes too late") {
  const Parameter a(Float(32), true, 2, "A");
  const Expr k = hi::Variable::make(Int(32), "k"), begin = hi::Variable::make(Int(32), "begin");
  const auto read = [&](const Expr &index) {
    return hi::Load::make(Float(32), "A", index, Buffer<>(), a, hi::const_true(),
                          hi::ModulusRemainder());
  };
  const hi::Stmt store = hi::Store::make("sum", read(begin + k) + read(begin + k + columns), 0,
                                         Parameter(), hi::const_true(), hi::ModulusRemainder());
  const auto count = [](const hi::Stmt &body) {
    const hi::Stmt loop =
        hi::For::make("k", 0, columns, hi::ForType::Serial, Partition::Auto, DeviceAPI::Host, body);
    finder seen;
    seen.mutate(qkv::codegen::prefetched_rows().mutate(loop));
    return seen.found.size();
  };
  CHECK(count(store) == 1);
  CHECK(count(hi::LetStmt::make("begin", hi::Variable::make(Int(32), "n") * 2, store)) == 0);
}
