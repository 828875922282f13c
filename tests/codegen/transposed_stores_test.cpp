// SPDX-License-Identifier: BSL-1.0
// Squares that are transposed in registers.
#include "codegen/halide/schedules/transposed_stores.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace {

using namespace Halide;

constexpr int rows = 32, columns = 48;

struct stores_across : Internal::IRMutator {
  using IRMutator::visit;
  int number = 0;
  Internal::Stmt visit(const Internal::Store *op) override {
    const auto *to = op->index.as<Internal::Ramp>();
    number += to ? !Internal::is_const_one(to->stride) : op->index.type().is_vector();
    return IRMutator::visit(op);
  }
};

// Computes t from A after the pass; returns the stores across memory that are left.
template <class T>
int across(const Func &t, ImageParam &A, Buffer<T> in, Buffer<T> &out) {
  Pipeline p(t);
  stores_across seen;
  p.add_custom_lowering_pass(new qkv::codegen::transposed_stores);
  p.add_custom_lowering_pass(&seen, [] {});
  A.set(std::move(in));
  p.realize(out);
  return seen.number;
}

struct outcome {
  int across;  // stores
  bool right;
};

// A transposed copy, so many rows of so many lanes at a time.
template <class T>
outcome transposed(int rows_at_once, int lanes) {
  Buffer<T> in(columns, rows), out(rows, columns);
  in.for_each_element([&](int x, int y) { in(x, y) = static_cast<T>(3 * x + 50 * y); });
  ImageParam A(type_of<T>(), 2, "A");
  Func t("t");
  Var i("i"), j("j"), io("io"), ii("ii"), jo("jo"), ji("ji");
  t(i, j) = A(j, i);
  t.split(i, io, ii, rows_at_once).split(j, jo, ji, lanes).reorder(ii, ji, jo, io);
  t.unroll(ii).vectorize(ji);
  t.output_buffer().dim(0).set_bounds(0, rows).dim(1).set_stride(rows);
  const int left = across(t, A, in, out);
  bool right = true;
  out.for_each_element([&](int x, int y) { right = right && out(x, y) == in(y, x); });
  return {left, right};
}

}  // namespace

TEMPLATE_TEST_CASE("squares are transposed and stored whole", "", float, double, std::uint16_t,
                   std::uint8_t) {
  const int n = GENERATE(4, 8, 16);
  const outcome o = transposed<TestType>(n, n);
  CHECK(o.right);
  CHECK(o.across == 0);
}

TEST_CASE("several squares stand in one block") { CHECK(transposed<float>(16, 8).across == 0); }

TEST_CASE("neighbours that stay neighbours move as one") {
  Buffer<std::uint16_t> in(2 * columns, rows), out(2, rows, columns);
  in.for_each_element(
      [&](int x, int y) { in(x, y) = static_cast<std::uint16_t>(3 * x + 500 * y); });
  ImageParam A(UInt(16), 2, "A");
  Func t("t");
  const Var h("h"), i("i"), j("j"), io("io"), ii("ii"), jo("jo"), ji("ji");
  const int n = GENERATE(4, 8, 16);
  t(h, i, j) = A(2 * j + h, i);
  t.bound(h, 0, 2).split(i, io, ii, n).split(j, jo, ji, n).reorder(h, ji, ii, jo, io);
  t.unroll(ii).vectorize(h).vectorize(ji);
  t.output_buffer().dim(1).set_bounds(0, rows).set_stride(2).dim(2).set_stride(2 * rows);
  CHECK(across(t, A, in, out) == 0);
  out.for_each_element([&](int h, int x, int y) { CHECK(out(h, x, y) == in(2 * y + h, x)); });
}

TEST_CASE("what is no square stays") {
  const outcome o = transposed<float>(4, 8);
  CHECK(o.right);
  CHECK(o.across > 0);
}

TEST_CASE("rows that are made of what they overwrite stay") {
  std::vector<Internal::Stmt> stores;
  for (int k = 0; k < 4; ++k) {
    const Expr at = Internal::Ramp::make(k, 8, 4);
    const Expr old = Internal::Load::make(Float(32, 4), "t", at, Buffer<>(), Parameter(),
                                          Internal::const_true(4), Internal::ModulusRemainder());
    stores.push_back(Internal::Store::make("t", old * 2.f, at, Parameter(), Internal::const_true(4),
                                           Internal::ModulusRemainder()));
  }
  stores_across seen;
  seen.mutate(qkv::codegen::transposed_stores().mutate(Internal::Block::make(stores)));
  CHECK(seen.number == 4);
}
