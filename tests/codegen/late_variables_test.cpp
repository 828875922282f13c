// SPDX-License-Identifier: BSL-1.0
// Variables whose values Halide does not see until its own passes are done.
#include "codegen/halide/lower/late_variables.hpp"

#include "tests/catch.hpp"

namespace {

using namespace Halide;

// Compares each element of the result with its value at (x, y).
template <class Value>
void check(Pipeline &p, Value value) {
  const Buffer<int> all = p.realize({4, 3})[0];
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 4; ++x) CHECK(all(x, y) == value(x, y));
}

}  // namespace

TEST_CASE("a Func reads the position of a loop around it") {
  qkv::codegen::late_variables late(user_context_value());
  Var x("x"), y("y");
  Func sum("sum"), row("row");
  row(x) = x + 10 * late.loop(sum.name(), 0, y.name());
  sum(x, y) = row(x) + row(x + 1);
  row.compute_at(sum, y);
  Pipeline p(sum);
  late.add_to(p);
  check(p, [](int at_x, int at_y) { return 2 * at_x + 1 + 20 * at_y; });
}

TEST_CASE("loops may be fused, and a position may be that of a reduction") {
  qkv::codegen::late_variables late(user_context_value());
  Var x("x"), y("y"), all_of("all_of");
  const RDom blocks(0, 5, "blocks");
  Func sum("sum"), total("total"), block("block");
  block(x) = x + 10 * late.loop(sum.name(), 0, y.name()) +
             100 * late.loop(total.name(), 1, RVar(blocks.x).name());
  total(x) = 0;
  total(x) += block(x) + 0 * blocks.x;
  sum(x, y) = total(x);
  sum.fuse(x, y, all_of).parallel(all_of);
  total.compute_at(sum, all_of).update().reorder(x, blocks.x);
  block.compute_at(total, blocks.x);
  Pipeline p(sum);
  late.add_to(p);
  check(p, [](int at_x, int at_y) { return 5 * at_x + 50 * at_y + 100 * (0 + 1 + 2 + 3 + 4); });
}

TEST_CASE("a Func that is computed before the loops has the bounds that it was given") {
  qkv::codegen::late_variables late(user_context_value());
  Var x("x"), y("y");
  Func all_rows("all_rows"), sum("sum"), row("row");
  all_rows(x, y) = x + 10 * y;
  row(x) = all_rows(x, late.loop(sum.name(), 0, y.name()));
  sum(x, y) = row(x) + row(x + 1);
  all_rows.compute_root();
  all_rows.bound(x, 0, 5).bound(y, 0, 3);
  row.compute_at(sum, y);
  Pipeline p(sum);
  late.add_to(p);
  check(p, [](int at_x, int at_y) { return 2 * at_x + 1 + 20 * at_y; });
}

TEST_CASE("a condition of the call chooses a form") {
  qkv::codegen::late_variables late(user_context_value());
  Param<int> n("n");
  Var x("x"), y("y");
  const Expr is_small = late.of_call("is_small", n < 3);
  Func f("f");
  f(x, y) = select(is_small, x, y) + 100 * n;
  f.specialize(is_small).vectorize(x, 4);
  Pipeline p(f);
  late.add_to(p);
  for (const int size : {2, 3, 2}) {
    n.set(size);
    check(p, [&](int at_x, int at_y) { return (size < 3 ? at_x : at_y) + 100 * size; });
  }
}
