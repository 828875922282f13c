// SPDX-License-Identifier: BSL-1.0
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto positions = kernel<"positions">(
    [](X_ X) -> outs<out<"i", row, column>, out<"j", row, column>, out<"n", row, column>> {
      return {X * 0 + index(row), X * 0 + index(column) / 2, X * 0 + size(column) - size(row)};
    });
constexpr auto roots = kernel<"roots">(
    [](in<"X", row, four> X, in<"Y", row, column> Y) -> outs<out<"a", row>, out<"b", row>> {
      return {sum<four>(X / sqrt(four)), sum<column>(Y / sqrt(column))};
    });
constexpr auto converted = kernel<"converted">(
    [](X_ X) -> outs<out<"i", i32, row, column>, out<"b", b8, row, column>, out<"f", row, column>> {
      return {cast<i32>(X), cast<b8>(X), cast<f32>(cast<i32>(X)) / 2};
    });
constexpr auto named = kernel<"named">([](X_ X) -> out<"O", row, column> {
  auto w = let<"w">(softmax<column>(X));
  return plain(w) * 2;
});

}  // namespace

TEST_CASE("index, size: positions and extents") {
  for (const matrix_size n : matrix_sizes) {
    arrays r = meaning(positions, matrices(n));
    const position shape = {n.rows, n.columns};
    QKV_SAME(r["i"], shape, [&](auto i) { return static_cast<double>(i[0]); });
    QKV_SAME(r["j"], shape, [&](auto i) { return static_cast<double>(i[1]) / 2; });
    QKV_SAME(r["n"], shape, [&](auto) { return static_cast<double>(n.columns - n.rows); });
  }
}

TEST_CASE("sqrt(axis): a static size and one of the call") {
  arrays a = {{"X", {{1, 4}, {1, 2, 3, 4}}}, {"Y", {{1, 9}, {1, 1, 1, 1, 1, 1, 1, 1, 1}}}};
  arrays r = meaning(roots, a);
  CHECK(same_number(r["a"].data[0], 5));
  CHECK(same_number(r["b"].data[0], 3));
}

TEST_CASE("cast: towards zero, to truth, and back") {
  const arrays a = {{"X", {{1, 4}, {2.75, -2.75, 0, 0.25}}}};
  arrays r = meaning(converted, a);
  CHECK(r["i"].data == std::vector<double>{2, -2, 0, 0});
  CHECK(r["b"].data == std::vector<double>{1, 1, 0, 1});
  CHECK(r["f"].data == std::vector<double>{1, -1, 0, 0});
}

TEST_CASE("let, plain: names and marks change no number") {
  const arrays a = matrices({3, 4});
  const codegen::program p = codegen::make_program(named);
  bool found = false;
  for (const codegen::node &n : p.nodes) found = found || n.name == "w";
  CHECK(found);
  QKV_SAME(meaning(named, a)["O"], (position{3, 4}), [&](auto i) {
    double sum = 0;
    for (std::int64_t k = 0; k < 4; ++k) sum += std::exp(at(a.at("X"), {i[0], k}));
    return 2 * std::exp(at(a.at("X"), i)) / sum;
  });
}

}  // namespace qkv::testing
