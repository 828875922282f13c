// SPDX-License-Identifier: BSL-1.0
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto binary =
    kernel<"binary">([
    ](X_ X, Y_ Y) -> outs<out<"add", row, column>, out<"sub", row, column>, out<"mul", row, column>,
                          out<"div", row, column>, out<"min", row, column>, out<"max", row, column>,
                          out<"pow", row, column>, out<"neg", row, column>> {
      return {X + Y, X - Y, X * Y, X / Y, min(X, Y), max(X, Y), pow(abs(X), Y), -X};
    });

constexpr auto by_row =
    kernel<"by_row">([](X_ X, in<"s", row> s) -> out<"O", row, column> { return 2 * X / s - 1; });

constexpr auto whole = kernel<"whole">(
    [](in<"i", i32, row> i, in<"j", i32, row> j) -> outs<out<"sum", i32, row>, out<"ratio", row>> {
      return {i * 3 - j, i / j};
    });

constexpr auto beyond = kernel<"beyond">(
    [](in<"i", i32, row> i, in<"j", i32, row> j)
        -> outs<out<"product", i32, row>, out<"difference", i32, row>, out<"total", i32>> {
      return {i * j, -i - j, sum<row>(i)};
    });

}  // namespace

TEST_CASE("arithmetic: element by element") {
  for (const matrix_size n : matrix_sizes) {
    const arrays a = matrices(n);
    const array &X = a.at("X"), &Y = a.at("Y");
    const position shape = {n.rows, n.columns};
    arrays r = meaning(binary, a);
    QKV_SAME(r["add"], shape, [&](auto i) { return at(X, i) + at(Y, i); });
    QKV_SAME(r["sub"], shape, [&](auto i) { return at(X, i) - at(Y, i); });
    QKV_SAME(r["mul"], shape, [&](auto i) { return at(X, i) * at(Y, i); });
    QKV_SAME(r["div"], shape, [&](auto i) { return at(X, i) / at(Y, i); });
    QKV_SAME(r["min"], shape, [&](auto i) { return at(X, i) < at(Y, i) ? at(X, i) : at(Y, i); });
    QKV_SAME(r["max"], shape, [&](auto i) { return at(X, i) < at(Y, i) ? at(Y, i) : at(X, i); });
    QKV_SAME(r["pow"], shape, [&](auto i) { return std::pow(std::fabs(at(X, i)), at(Y, i)); });
    QKV_SAME(r["neg"], shape, [&](auto i) { return -at(X, i); });
  }
}

TEST_CASE("arithmetic: NaN comes through min and max from either side") {
  const arrays a = {{"X", {{1, 3}, {not_a_number, 1, 2}}}, {"Y", {{1, 3}, {1, not_a_number, 3}}}};
  arrays r = meaning(binary, a);
  const double least[] = {not_a_number, not_a_number, 2}, most[] = {not_a_number, not_a_number, 3};
  QKV_SAME(r["min"], (position{1, 3}), [&](auto i) { return least[i[1]]; });
  QKV_SAME(r["max"], (position{1, 3}), [&](auto i) { return most[i[1]]; });
}

TEST_CASE("arithmetic: a value per row and numbers repeat") {
  const matrix_size n{4, 9};
  arrays a = matrices(n);
  a["s"] = {{4}, {1, 2, -4, 0.5}};
  QKV_SAME(meaning(by_row, a)["O"], (position{4, 9}),
           [&](auto i) { return 2 * at(a["X"], i) / a["s"].data[i[0]] - 1; });
}

TEST_CASE("arithmetic: whole numbers stay whole, but a ratio does not") {
  const arrays a = {{"i", {{3}, {7, -7, 0}}}, {"j", {{3}, {2, 2, 5}}}};
  arrays r = meaning(whole, a);
  CHECK(r["sum"].data == std::vector<double>{19, -23, -5});
  CHECK(r["ratio"].data == std::vector<double>{3.5, -3.5, 0});
}

TEST_CASE("arithmetic: whole numbers wrap around") {
  const double least = -0x1p31, most = 0x1p31 - 1;
  const arrays a = {{"i", {{4}, {100000, most, least, least}}},
                    {"j", {{4}, {100000, most, 1, -1}}}};
  arrays r = meaning(beyond, a);
  CHECK(r["product"].data == std::vector<double>{1410065408, 1, least, least});
  CHECK(r["difference"].data == std::vector<double>{-200000, 2, most, least + 1});
  CHECK(r["total"].data == std::vector<double>{99999 - 0x1p31});
}

}  // namespace qkv::testing
