// SPDX-License-Identifier: BSL-1.0
// Stores beside the computation of a value.
#include "codegen/halide/lower/pair_stores.hpp"

#include "tests/catch.hpp"

using namespace Halide;

namespace {

struct results {
  Buffer<int> values, sums;
};

// values(x, turn) = x + 10 turn + 1; on the way, sums(x) becomes the sum of x + 10 turn over the
// turns, for x < n.
results computed(int width, int turns, int n, const Expr &initial, const Expr &is_first) {
  const Var x("x"), turn("turn");
  Func f("f"), sums("sums"), values("values");
  sums(x) = initial;
  const Expr value = x + 10 * turn;
  f(x, turn) = qkv::codegen::storing(value, value, sums(x), x < n,
                                     Internal::substitute("turn", turn, is_first));
  values(x, turn) = f(x, turn) + 1;
  f.compute_at(values, turn).vectorize(x, 8);
  Pipeline all({values, sums});
  all.add_custom_lowering_pass(new qkv::codegen::stores_beside({sums}));
  results r{Buffer<int>(width, turns), Buffer<int>(width)};
  r.sums.fill(-1);
  all.realize({r.values, r.sums});
  return r;
}

}  // namespace

TEST_CASE("a number is stored where a value is computed") {
  const results r = computed(16, 1, 13, undef<int>(), Internal::const_true());
  for (int x = 0; x < 16; ++x) {
    CHECK(r.values(x, 0) == x + 1);
    CHECK(r.sums(x) == (x < 13 ? x : -1));
  }
}

TEST_CASE("later numbers are added to the first one") {
  const Expr first_turn = Internal::Variable::make(Int(32), "turn") == 0;
  const results r = computed(16, 3, 13, undef<int>(), first_turn);
  for (int x = 0; x < 13; ++x) CHECK(r.sums(x) == 3 * x + 30);
  for (int x = 13; x < 16; ++x) CHECK(r.sums(x) == -1);
}

TEST_CASE("all numbers are added to what is there before") {
  const results r = computed(16, 2, 16, 100, Internal::const_false());
  for (int x = 0; x < 16; ++x) CHECK(r.sums(x) == 100 + 2 * x + 10);
}
