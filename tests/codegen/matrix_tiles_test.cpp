// SPDX-License-Identifier: BSL-1.0
// Loops over a tile of a product of bf16 become instructions of a matrix unit.
#include "codegen/halide/schedules/matrix_tiles.hpp"

#include <cstdio>
#include <map>
#include <string>

#include "tests/catch.hpp"

#if defined(__linux__) && defined(__x86_64__)
#include <cpuid.h>
#include <unistd.h>
#endif

using namespace Halide;
using namespace qkv::codegen;
namespace hi = Halide::Internal;

namespace {

constexpr int rows = 32, columns = 48, depth = 128;

// True if the processor has such a unit, and the system saves its registers for this process.
bool has_matrix_unit() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr unsigned bf16_and_tiles = 1u << 22 | 1u << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & bf16_and_tiles) == bf16_and_tiles &&
         syscall(158, 0x1023, 18) == 0;  // arch_prctl, to request permission for tiles
#else
  return false;
#endif
}

// The instructions and, by their last names, the loops of a pipeline.
struct counter : hi::IRMutator {
  using IRMutator::visit;
  std::map<std::string, int> calls, loops;
  Expr visit(const hi::Call *op) override {
    ++calls[op->name];
    return IRMutator::visit(op);
  }
  hi::Stmt visit(const hi::For *op) override {
    ++loops[op->name.substr(op->name.rfind('.') + 1)];
    return IRMutator::visit(op);
  }
};

// Rows times columns, in tiles: all terms of a sum at once, or 32 of them after others.
struct tiled_product {
  ImageParam a{BFloat(16), 2, "a"}, b{BFloat(16), 3, "b"};
  Func sums{"sums"}, out{"out"};
  counter seen;
  Target target{
      "x86-64-linux-sse41-avx-avx2-f16c-fma-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4-"
      "avx512_sapphirerapids"};

  void make(int tile_rows, int tile_columns, bool at_once, const Expr &factor = 1.f) {
    const Var i("i"), j("j"), io("io"), jo("jo"), row(matrix_loops::row), zero(matrix_loops::zero),
        column(at_once ? matrix_loops::first : matrix_loops::column);
    const int pairs = at_once ? depth / 2 : 16;
    const RDom r(0, 2, 0, pairs, 0, depth / 2 / pairs, "r");
    const Expr pair = r.z * pairs + r.y;
    sums(j, i) = 0.f;
    sums(j, i) += cast<float>(a(pair * 2 + r.x, i)) * (cast<float>(b(r.x, j, pair)) * factor);
    out(j, i) = sums(j, i);
    sums.compute_root().bound(i, 0, rows).bound(j, 0, columns).vectorize(j, 16);
    if (at_once) sums.split(i, i, zero, 16).reorder(j, zero, i);
    sums.update()
        .split(i, io, row, tile_rows)
        .split(j, jo, column, tile_columns)
        .reorder({r.x, r.y, column, row, jo, io, r.z});
    b.dim(1).set_stride(2);
    out.add_custom_lowering_pass(new matrix_tiles);
    out.add_custom_lowering_pass(&seen, [] {});
    out.compile_to_module({a, b}, "product", target);
  }

  // The largest difference between a sum and the one that loops of C++ compute.
  double error() {
    Buffer<bfloat16_t> x(depth, rows), y(2, columns, depth / 2);
    const auto number = [](int n) { return bfloat16_t(static_cast<float>(n * 37 % 64 - 31)); };
    x.for_each_element([&](int k, int i) { x(k, i) = number(k + 5 * i); });
    y.for_each_element([&](int h, int j, int p) { y(h, j, p) = number(2 * p + h + 11 * j); });
    a.set(x), b.set(y);
    const Buffer<float> made = out.realize({columns, rows}, target);
    double most = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        double sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += static_cast<double>(x(k, i)) * static_cast<double>(y(k % 2, j, k / 2));
        most = std::max(most, std::abs(sum - static_cast<double>(made(j, i))));
      }
    return most;
  }
};

}  // namespace

TEST_CASE("a product of all terms begins at zero, and its sums are not set before") {
  tiled_product p;
  p.make(32, 16, true);
  CHECK(p.seen.calls["tile_zero"] == 2);
  CHECK(p.seen.calls["tile_matmul"] == 8);
  CHECK(p.seen.calls["tile_load"] == 4 + 8);  // columns, rows
  CHECK(p.seen.calls["tile_store"] == 2);
  for (const std::string &loop : {matrix_loops::row, matrix_loops::first, matrix_loops::zero})
    CHECK(p.seen.loops[loop] == 0);
}

TEST_CASE("a product of some terms is added to the sums in memory") {
  tiled_product p;
  p.make(16, 48, false);
  CHECK(p.seen.calls["tile_zero"] == 0);
  CHECK(p.seen.calls["tile_matmul"] == 3);
  CHECK(p.seen.calls["tile_load"] == 3 + 1 + 3);  // sums, a row, columns
  CHECK(p.seen.calls["tile_store"] == 3);
  CHECK(p.seen.loops["r$z"] == 1);
}

TEST_CASE("loops that are not such a product are an error") {
  const auto error = [](int tile_rows, const Expr &factor) -> std::string {
    tiled_product p;
    try {
      p.make(tile_rows, 16, true, factor);
    } catch (const Halide::Error &e) {  // not a std::exception
      return e.what();
    }
    return "";
  };
  const std::string begin = "these loops are not a product of matrix tiles: for (";
  CHECK(error(16, 2.f).starts_with(begin));
  CHECK(error(8, 1.f).starts_with(begin));
  CHECK(error(16, 1.f) == "");
}

TEST_CASE("products of matrix tiles are exact for small integers") {
  if (!has_matrix_unit()) {
    std::puts("[SKIP] this processor has no matrix unit (AMX), or the system does not grant it");
    return;
  }
  for (const bool at_once : {true, false})
    for (const int tile_columns : {16, 48}) {
      tiled_product p;
      p.make(32, tile_columns, at_once);
      CHECK(p.error() == 0);
    }
}
