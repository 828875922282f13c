// SPDX-License-Identifier: BSL-1.0
// Halves of 32 bits that become neighbours are joined lane by lane.
#include "codegen/halide/schedules/interleaved_halves.hpp"

#include <cstdint>

#include "tests/catch.hpp"

using namespace Halide;

namespace {

struct interleavings : Internal::IRMutator {
  using IRMutator::visit;
  int number = 0;
  Expr visit(const Internal::Shuffle *op) override {
    number += op->is_interleave();
    return IRMutator::visit(op);
  }
};

// The shuffles that are left for halves of A and B, in turns; `half_of` gives that of one number.
template <class T, class F>
int left(F half_of) {
  constexpr unsigned n = 64;
  Buffer<T> a(n), b(n);
  for (unsigned i = 0; i < n; ++i) {
    a(i) = static_cast<T>(0x9e3779b9u * (i + 1));
    b(i) = static_cast<T>(0x85ebca6bu * (i + 3));
  }
  ImageParam A(type_of<T>(), 1, "A"), B(type_of<T>(), 1, "B");
  Func t("t");
  const Var h("h"), i("i");
  t(h, i) = half_of(select(h == 0, A(i), B(i)));
  t.bound(h, 0, 2).unroll(h).vectorize(i, 8);
  t.output_buffer().dim(1).set_stride(2);
  Pipeline p(t);
  interleavings seen;
  p.add_custom_lowering_pass(new qkv::codegen::interleaved_halves);
  p.add_custom_lowering_pass(&seen, [] {});
  A.set(a), B.set(b);
  const Buffer<std::uint16_t> joined = p.realize({2, n});
  Func plain("plain");
  plain(h, i) = half_of(select(h == 0, A(i), B(i)));
  const Buffer<std::uint16_t> right = plain.realize({2, n});
  for (unsigned k = 0; k < n; ++k)
    for (int side : {0, 1}) CHECK(joined(side, k) == right(side, k));
  return seen.number;
}

}  // namespace

TEST_CASE("upper and lower halves are joined without a shuffle") {
  CHECK(left<std::uint32_t>([](const Expr &x) { return cast<std::uint16_t>(x >> 16); }) == 0);
  CHECK(left<std::uint32_t>([](const Expr &x) { return cast<std::uint16_t>(x); }) == 0);
}

TEST_CASE("numbers that were 16 bits before are shuffled") {
  CHECK(left<std::uint16_t>([](const Expr &x) { return x; }) > 0);
}
