// SPDX-License-Identifier: BSL-1.0
// While products of a tile are computed, the pairs of the next tile are prefetched.
#include "codegen/halide/schedules/pairs_ahead.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "codegen/halide/lower/attention_funcs.hpp"
#include "tests/catch.hpp"
#include "tests/codegen/prefetches.hpp"

using namespace Halide;
namespace hi = Halide::Internal;

namespace {

constexpr int rows = 8, keys = 64, apart = 80;  // of a tile; columns from one row to the next

struct tiles_case {
  int tiles = 3;
  bool are_tasks = false;
  bool is_in_two = false;  // halves of its rows are read one after the other
  int keys_at_a_time = 8;
  std::int64_t least_bytes = 1;
  std::string name = qkv::codegen::pair_tile_prefix + "A";
};

// Twice each number, made of tiles of A. Checks the results.
std::vector<prefetches::prefetch> prefetches_of(const tiles_case &c) {
  Buffer<float> memory(apart * rows * c.tiles);
  for (int k = 0; k < memory.width(); ++k) memory(k) = static_cast<float>(k);
  const halide_dimension_t shape[] = {{0, keys, 1}, {0, rows * c.tiles, apart}};
  Buffer<float> a(memory.data(), 2, shape);
  ImageParam A(Float(32), 2, "A");
  A.dim(0).set_bounds(0, keys);
  A.dim(1).set_min(0);
  const Var i("i"), j("j"), T("T"), io("io"), ii("ii"), jo("jo"), ji("ji");
  Func tile(c.name), scores("scores");
  tile(i, j, T) = A(j, T * rows + i);
  scores(i, j, T) = 2 * tile(i, j, T);
  scores.bound(i, 0, rows).bound(j, 0, keys).bound(T, 0, c.tiles);
  scores.split(j, jo, ji, c.keys_at_a_time).split(i, io, ii, c.is_in_two ? rows / 2 : rows);
  scores.reorder(ii, ji, jo, io, T).vectorize(ii);
  if (c.are_tasks) scores.parallel(T);
  tile.compute_at(scores, T).split(j, jo, ji, 16).split(i, io, ii, rows / 2);
  tile.reorder(ii, ji, jo, io).unroll(ii).vectorize(ji);
  Pipeline p(scores);
  prefetches::finder seen;
  p.add_custom_lowering_pass(new qkv::codegen::pairs_ahead(c.least_bytes));
  p.add_custom_lowering_pass(&seen, [] {});
  A.set(a);
  const Buffer<float> result = p.realize({rows, keys, c.tiles});
  for (int t = 0; t < c.tiles; ++t)
    for (int k = 0; k < keys; ++k)
      for (int r = 0; r < rows; ++r) REQUIRE(result(r, k, t) == 2 * a(k, t * rows + r));
  return seen.found;
}

// The address with the stride of the rows in place of the call that reads it.
Expr with_stride(const Expr &e) {
  struct : hi::IRMutator {
    using IRMutator::visit;
    Expr visit(const hi::Call *op) override {
      return op->name == hi::Call::buffer_get_stride ? Expr(apart) : IRMutator::visit(op);
    }
  } m;
  return m.mutate(e);
}

// How often each element of `A` is prefetched, beside those of the tile, while it is computed.
std::vector<std::pair<int, int>> positions(const tiles_case &c, int tile) {
  std::map<int, int> times;
  const int steps = keys / c.keys_at_a_time;
  for (const prefetches::prefetch &x : prefetches_of(c)) {
    REQUIRE(x.loops.size() == (c.is_in_two ? 4 : 3));  // T, perhaps io, jo, ahead
    for (int o = 0; o < (c.is_in_two ? 2 : 1); ++o)
      for (int s = 0; s < steps; ++s)
        for (int k = 0; k < std::max(x.turns, 1); ++k) {
          const auto here = [&](Expr e) {
            if (c.is_in_two) e = hi::substitute(x.loops[1], o, e);
            e = hi::substitute(x.loops[x.loops.size() - 2], s, hi::substitute(x.turn, k, e));
            return hi::simplify(hi::substitute(x.loops.front(), tile, with_stride(e)));
          };
          if (hi::is_const_zero(here(x.conditions.back()))) continue;
          const auto element = hi::as_const_int(here(x.at));
          REQUIRE(element);
          ++times[static_cast<int>(*element) - tile * rows * apart];
        }
  }
  return {times.begin(), times.end()};
}

// Each line of the next tile, once.
std::vector<std::pair<int, int>> next_tile() {
  std::vector<std::pair<int, int>> all;
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < keys; k += 16) all.emplace_back((rows + r) * apart + k, 1);
  return all;
}

}  // namespace

TEST_CASE("all lines of the next tile are prefetched, each once") {
  CHECK(positions({}, 0) == next_tile());
  CHECK(positions({}, 2) == next_tile());
  CHECK(positions({.keys_at_a_time = 16}, 1) == next_tile());  // two squares at a step
  CHECK(positions({.is_in_two = true, .keys_at_a_time = 16}, 1) == next_tile());
  CHECK(positions({.is_in_two = true}, 1) == next_tile());  // more steps than squares
}

TEST_CASE("the next tile of another task, and other tiles, are left alone") {
  CHECK(prefetches_of({.are_tasks = true}).empty());
  CHECK(prefetches_of({.name = "A_tile"}).empty());
}

TEST_CASE("pairs that a cache holds are left alone") {
  const auto found = prefetches_of({.least_bytes = 1 << 20});
  REQUIRE_FALSE(found.empty());
  std::ostringstream condition;
  condition << found[0].conditions[found[0].conditions.size() - 2];
  CHECK(condition.str() == "(uint1)A.is_large");
  CHECK(found[0].is_large.find(">= (int64)1048576") != std::string::npos);
}
