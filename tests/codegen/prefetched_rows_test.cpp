// SPDX-License-Identifier: BSL-1.0
// Loops over some rows of an argument prefetch the rows of the next register tile.
#include "codegen/halide/schedules/prefetched_rows.hpp"

#include <string>
#include <vector>

#include "codegen/halide/lower/attention_funcs.hpp"
#include "tests/catch.hpp"
#include "tests/codegen/prefetches.hpp"

using namespace Halide;
namespace hi = Halide::Internal;

namespace {

constexpr int columns = 24, all_rows = 32;

using prefetches::prefetch;

// A times b for each row, so many rows at a time: `term` of a number of each. Checks the results.
std::vector<prefetch> found_in(int rows, Expr (*term)(Expr, Expr), bool is_argument = true,
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
  prefetches::finder seen;
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
  const auto found = found_in(4, product_of);
  REQUIRE(found.size() == 1);
  CHECK(found[0].turns == 6);  // each of 4 steps, which read 16 numbers
  for (int t = 0; t < 6; ++t) CHECK(position(found[0], t, 4) == 16 * t);
}

TEST_CASE("rows that do not divide a line are prefetched a little ahead of their pace") {
  const auto found = found_in(6, product_of);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].turns == 12);
  for (int t = 0; t < 12; ++t) CHECK(position(found[0], t, 6) == 12 * t);
}

TEST_CASE("loops without prefetches by their name") {
  CHECK(found_in(4, product_of, true, "k_" + qkv::codegen::no_prefetch_name).empty());
}

TEST_CASE("long steps are not unrolled") {
  const auto found = found_in(4, long_term);
  REQUIRE(found.size() == 1);
  CHECK(found[0].turns == columns);
  for (int t = 0; t < columns; ++t) CHECK(position(found[0], t, 4) == 4 * t);
}

TEST_CASE("a single row, or rows that are stored, are not prefetched") {
  CHECK(found_in(1, product_of).empty());
  CHECK(found_in(4, product_of, false).empty());
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
    prefetches::finder seen;
    seen.mutate(qkv::codegen::prefetched_rows().mutate(loop));
    return seen.found.size();
  };
  CHECK(count(store) == 1);
  CHECK(count(hi::LetStmt::make("begin", hi::Variable::make(Int(32), "n") * 2, store)) == 0);
}
