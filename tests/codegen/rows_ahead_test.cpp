// SPDX-License-Identifier: BSL-1.0
// Loops that read a row of an argument at a turn prefetch the row a page ahead.
#include "codegen/halide/schedules/rows_ahead.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/halide/lower/attention_funcs.hpp"
#include "tests/catch.hpp"
#include "tests/codegen/prefetches.hpp"

using namespace Halide;
namespace hi = Halide::Internal;

namespace {

constexpr int lanes = 16;

struct rows_case {
  int columns = 128;
  int apart = 160;              // columns from one row to the next
  bool apart_is_known = false;  // at build
  bool is_unrolled = true;      // the loop over the vectors of a row
  int rows = 40;
  int times = 1;  // that all rows are read
  std::int64_t least_bytes = 1;
  std::string loop = "key";
};

// The sum of each row. Checks the results.
std::vector<prefetches::prefetch> prefetches_of(const rows_case &c) {
  Buffer<float> memory(c.apart * c.rows);
  for (int k = 0; k < c.apart * c.rows; ++k) memory(k) = static_cast<float>(k % 7);
  const halide_dimension_t shape[] = {{0, c.columns, 1}, {0, c.rows, c.apart}};
  Buffer<float> a(memory.data(), 2, shape);
  ImageParam A(Float(32), 2, "A");
  A.dim(0).set_bounds(0, c.columns);
  A.dim(1).set_min(0);
  if (c.apart_is_known) A.dim(1).set_stride(c.apart);
  const Var lane("lane"), row(c.loop);
  const RDom k(0, c.columns / lanes, "k");
  const Var again("again");
  Func part("part"), out("out");
  part(lane, row) += A(k * lanes + lane, row);
  const RDom all(0, lanes);
  out(row, again) += part(all, row);
  out.bound(row, 0, c.rows).bound(again, 0, c.times);
  part.compute_at(out, row).vectorize(lane).update().vectorize(lane);
  if (c.is_unrolled) part.update().unroll(k);
  Pipeline p(out);
  prefetches::finder seen;
  p.add_custom_lowering_pass(new qkv::codegen::rows_ahead(c.least_bytes));
  p.add_custom_lowering_pass(&seen, [] {});
  A.set(a);
  const Buffer<float> result = p.realize({c.rows, c.times});
  for (int r = 0; r < c.rows; ++r) {
    float right = 0;
    for (int x = 0; x < c.columns; ++x) right += a(x, r);
    for (int t = 0; t < c.times; ++t) CHECK(result(r, t) == right);
  }
  return seen.found;
}

Expr name(const std::string &of) { return hi::Variable::make(Int(32), of); }
Expr stride() { return name("stride"); }

Expr load(const std::string &argument, const Expr &index, int lanes, Type type = Float(32)) {
  const Parameter p(type, true, 2, argument);
  const Expr at = lanes > 1 ? hi::Ramp::make(index, 1, lanes) : index;
  return hi::Load::make(type.with_lanes(lanes), argument, at, Buffer<>(), p, hi::const_true(lanes),
                        hi::ModulusRemainder());
}

// The prefetches in nested loops, outermost first, that read a vector of `A`.
std::vector<prefetches::prefetch> in_loops(const std::vector<std::pair<std::string, Expr>> &loops,
                                           const Expr &index, int lanes) {
  hi::Stmt s = hi::Evaluate::make(load("A", index, std::max(lanes, 2)));
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
    s = hi::For::make(loop->first, 0, loop->second, hi::ForType::Serial, Partition::Auto,
                      DeviceAPI::None, s);
  prefetches::finder seen;
  seen.mutate(qkv::codegen::rows_ahead(1).mutate(s));
  return seen.found;
}

// The address with the stride of the rows in place of the call that reads it.
Expr with_stride(int apart, const Expr &e) {
  struct : hi::IRMutator {
    using IRMutator::visit;
    Expr visit(const hi::Call *op) override {
      return op->name == hi::Call::buffer_get_stride ? Expr(apart) : IRMutator::visit(op);
    }
    int apart = 0;
  } m;
  m.apart = apart;
  return m.mutate(e);
}

// The elements of `A` that are prefetched at this turn, beside the row of the turn.
std::set<int> positions(const rows_case &c, int turn) {
  std::set<int> all;
  for (const prefetches::prefetch &x : prefetches_of(c)) {
    Expr at = hi::substitute(x.turn, turn, x.at);
    at = hi::simplify(with_stride(c.apart, at));
    INFO(at);
    REQUIRE(hi::as_const_int(at));
    all.insert(static_cast<int>(*hi::as_const_int(at)) - turn * c.apart);
  }
  return all;
}

std::set<int> lines(int first, int number) {
  std::set<int> all;
  for (int k = 0; k < number; ++k) all.insert(first + 16 * k);
  return all;
}

}  // namespace

TEST_CASE("all lines of the row a page ahead are prefetched") {
  CHECK(positions({}, 0) == lines(8 * 160, 8));
  CHECK(positions({}, 3) == lines(8 * 160, 8));
  CHECK(positions({.columns = 32, .apart = 32}, 0) == lines(32 * 32, 2));
}

TEST_CASE("at least four rows ahead") {
  CHECK(positions({.columns = 512, .apart = 512}, 1) == lines(4 * 512, 32));
}

TEST_CASE("rows of several turns of a loop") {
  CHECK(positions({.is_unrolled = false}, 2) == lines(8 * 160, 8));
}

TEST_CASE("memory that hardware prefetches is left to it") {
  CHECK(prefetches_of({.apart_is_known = true}).empty());
  CHECK(prefetches_of({.columns = 1024, .apart = 1024}).empty());
}

TEST_CASE("a loop that is over before it comes to the rows prefetches nothing") {
  CHECK(prefetches_of({.rows = 8}).empty());
  CHECK_FALSE(prefetches_of({.rows = 9}).empty());
}

TEST_CASE("loops without prefetches by their name") {
  CHECK(prefetches_of({.loop = "key_" + qkv::codegen::no_prefetch_name}).empty());
  const std::string marked = "k_" + qkv::codegen::no_prefetch_name;
  CHECK(in_loops({{"key", 40}, {"k", 4}}, name("key") * stride() + name("k"), 1).size() == 1);
  CHECK(in_loops({{"key", 40}, {marked, 4}}, name("key") * stride() + name(marked), 1).empty());
}

TEST_CASE("addresses that are read from a table or divided are left alone") {
  const auto of = [](const Expr &row) {
    return in_loops({{"key", 40}}, row * stride(), 16).size();
  };
  CHECK(of(name("key")) == 1);
  CHECK(of(name("key") / 4) == 1);
  CHECK(of(name("key") / name("n")) == 0);
  CHECK(of(name("key") % name("n")) == 0);
  CHECK(of(load("table", name("key"), 1, Int(32))) == 0);
}

TEST_CASE("vectors of several lines") {
  const auto found = in_loops({{"key", 100}}, name("key") * stride(), 32);
  REQUIRE(found.size() == 2);
  for (int k = 0; k < 2; ++k) {
    const Expr at = hi::substitute("key", 3, hi::substitute("stride", 1000, found[k].at));
    CHECK(hi::is_const(hi::simplify(at), (3 + 32) * 1000 + 16 * k));
  }
}

TEST_CASE("each loop prefetches the rows that not all loops read") {
  const Expr row = name("key") * stride();
  const auto whole = in_loops({{"tile", 5}, {"key", 40}}, row, 16);
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].condition.find("tile == 0") != std::string::npos);
  const auto triangle = in_loops({{"tile", 5}, {"key", 40 + name("tile")}}, row, 16);
  REQUIRE(triangle.size() == 1);
  CHECK(triangle[0].condition.find("tile") == std::string::npos);
}

TEST_CASE(
    "the first of several loops over the same rows prefetches, if they do not stay in cache") {
  const auto of_one = prefetches_of({});
  REQUIRE_FALSE(of_one.empty());
  CHECK(of_one[0].condition == "(uint1)A.is_large");
  const auto of_three = prefetches_of({.times = 3});
  REQUIRE_FALSE(of_three.empty());
  const std::string first = of_three[0].condition;
  CHECK(first.find("A.is_large && (out") != std::string::npos);
  CHECK(first.find(".again == 0)") != std::string::npos);
  const std::string extent =
      "*int64(_halide_buffer_get_extent((struct halide_buffer_t *)A.buffer, ";
  CHECK(of_one[0].is_large == "((((int64)4" + extent + "0)))" + extent + "1))) >= (int64)1)");
}
