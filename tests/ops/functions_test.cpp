// SPDX-License-Identifier: BSL-1.0
#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

constexpr auto smooth = kernel<"smooth">(
    [](X_ X) -> outs<out<"exp", row, column>, out<"tanh", row, column>, out<"sigmoid", row, column>,
                     out<"gelu", row, column>, out<"silu", row, column>, out<"elu", row, column>,
                     out<"softplus", row, column>, out<"erf", row, column>, out<"cos", row, column>,
                     out<"sin", row, column>> {
      return {exp(X), tanh(X),     sigmoid(X), gelu(X), silu(X),
              elu(X), softplus(X), erf(X),     cos(X),  sin(X)};
    });

constexpr auto kinked = kernel<"kinked">(
    [](X_ X)
        -> outs<out<"relu", row, column>, out<"abs", row, column>, out<"log", row, column>,
                out<"log1p", row, column>, out<"sqrt", row, column>, out<"rsqrt", row, column>> {
      return {relu(X), abs(X), log(X), log1p(X), sqrt(X), rsqrt(X)};
    });

}  // namespace

TEST_CASE("functions: smooth ones") {
  for (const matrix_size n : matrix_sizes) {
    const arrays a = matrices(n, -6, 6);
    const auto check = [&, r = meaning(smooth, a)](const char *name, auto f) {
      INFO(name);
      QKV_SAME(r.at(name), (position{n.rows, n.columns}),
               [&](auto i) { return f(at(a.at("X"), i)); });
    };
    check("exp", [](double x) { return std::exp(x); });
    check("tanh",
          [](double x) { return (std::exp(x) - std::exp(-x)) / (std::exp(x) + std::exp(-x)); });
    check("sigmoid", [](double x) { return std::exp(x) / (1 + std::exp(x)); });
    check("gelu", [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); });
    check("silu", [](double x) { return x * std::exp(x) / (1 + std::exp(x)); });
    check("elu", [](double x) { return x > 0 ? x : std::exp(x) - 1; });
    check("softplus", [](double x) { return std::log1p(std::exp(x)); });
    check("erf", [](double x) { return 1 - std::erfc(x); });
    check("cos", [](double x) { return std::cos(x); });
    check("sin", [](double x) { return std::sin(x); });
  }
}

TEST_CASE("functions: relu, abs, log, roots, also of nothing, infinity and NaN") {
  const arrays a = {{"X", {{1, 6}, {-4, 0, 4, infinity, -infinity, not_a_number}}}};
  const arrays r = meaning(kinked, a);
  const auto check = [&](const char *name, std::vector<double> want) {
    INFO(name);
    QKV_SAME(r.at(name), (position{1, 6}), [&](auto i) { return want[i[1]]; });
  };
  const double nan = not_a_number;
  check("relu", {0, 0, 4, infinity, 0, nan});
  check("abs", {4, 0, 4, infinity, infinity, nan});
  check("log", {nan, -infinity, 2 * std::log(2.0), infinity, nan, nan});
  check("log1p", {nan, 0, std::log(5.0), infinity, nan, nan});
  check("sqrt", {nan, 0, 2, infinity, nan, nan});
  check("rsqrt", {nan, infinity, 0.5, 0, nan, nan});
}

TEST_CASE("functions: far out they stay finite") {
  const arrays a = {{"X", {{1, 4}, {-1e4, 1e4, -800, 800}}}};
  arrays r = meaning(smooth, a);
  CHECK(r["sigmoid"].data == std::vector<double>{0, 1, 0, 1});
  CHECK(r["tanh"].data == std::vector<double>{-1, 1, -1, 1});
  CHECK(r["elu"].data == std::vector<double>{-1, 1e4, -1, 800});
  CHECK(r["softplus"].data == std::vector<double>{0, 1e4, 0, 800});
  CHECK(std::fabs(r["silu"].data[0]) == 0);
  CHECK(std::fabs(r["gelu"].data[0]) == 0);
}

TEST_CASE("functions: of numbers, those of C++") {
  using namespace qkv;
  CHECK(abs(-0.5f) == 0.5f);
  CHECK(abs(-2) == 2);
  CHECK(!std::signbit(abs(-0.0)));
  CHECK(exp(1) == std::exp(1.0));
  CHECK(log(2.0f) == std::log(2.0f));
  CHECK(sqrt(0.25f) == 0.5f);
  CHECK(sin(1.0) == std::sin(1.0));
  CHECK(max(2, 0.5) == 2);
  CHECK(pow(64, -0.5) == 0.125);
  CHECK(min(2.f, 0.5f) == 0.5f);
}

}  // namespace qkv::testing
