// SPDX-License-Identifier: BSL-1.0
// The meaning of each pointwise operation agrees with values that were made outside of qkv.
#include "codegen/program/meaning.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

#include "codegen/reference/functions.hpp"
#include "tests/catch.hpp"
#include "tests/support/outside_values.hpp"

namespace qkv::testing {
namespace {

// Units in the last place that the C library and a few roundings may be off by; of gelu, the
// rounding of x / sqrt 2 grows with x^2 in its tail.
template <class T>
long double allowed(const outside_value &v) {
  const long double u = std::numeric_limits<T>::epsilon();
  if (v.value == 0) return std::numeric_limits<T>::min();
  const long double grown = v.kind == core::op::gelu ? 1 + v.x * v.x : 1;
  return 4 * u * grown * std::fabs(v.value) + std::numeric_limits<T>::min();
}

template <class T>
std::string wrong(const outside_value &v) {
  const T got = codegen::meaning_of<codegen::floating_numbers<T>>(v.kind, static_cast<T>(v.x),
                                                                  static_cast<T>(v.y));
  const bool right = std::isnan(v.value)   ? std::isnan(got)
                     : std::isinf(v.value) ? got == static_cast<T>(v.value)
                                           : std::fabs(got - v.value) <= allowed<T>(v);
  if (right) return "";
  return fmt::format("{}({}, {}) is {}, not {}", name_of(v.kind), v.x, v.y,
                     static_cast<double>(got), static_cast<double>(v.value));
}

}  // namespace

TEST_CASE("meanings agree with values made outside") {
  std::set<core::op> seen;
  for (const outside_value &v : outside_values()) {
    seen.insert(v.kind);
    CHECK(wrong<double>(v) == "");
    CHECK(wrong<long double>(v) == "");
  }
  for (const core::op_facts &o : core::op_table) {
    INFO("values of " << o.name);
    CHECK(seen.count(o.kind) == codegen::has_meaning(o.kind));
  }
}

// Central differences in long double, extrapolated; kinks lie between the points.
TEST_CASE("derivatives agree with differences of meanings") {
  using numbers = codegen::floating_numbers<long double>;
  for (const core::op_facts &o : core::op_table) {
    if (!codegen::has_derivative(o.kind)) continue;
    const auto f = [&](long double x) { return codegen::meaning_of<numbers>(o.kind, x, x); };
    for (const long double x : {-3.25L, -1.5L, -0.75L, -0.125L, 0.125L, 0.5L, 1.25L, 2.5L}) {
      if (std::isnan(f(x))) continue;  // log of a negative number
      const auto difference = [&](long double h) { return (f(x + h) - f(x - h)) / (2 * h); };
      const long double want = (4 * difference(1e-4L) - difference(2e-4L)) / 3;
      const long double got = codegen::derivative_of<numbers>(o.kind, x, f(x));
      INFO("the derivative of " << o.name << " at " << x << " is " << got << ", not " << want);
      CHECK(std::fabs(got - want) <= 1e-11L * std::fmax(1, std::fabs(want)));
    }
  }
}

TEST_CASE("what has no meaning alone is refused") {
  CHECK_THROWS_AS(codegen::meaning_of<codegen::floating_numbers<double>>(core::op::dot, 1., 1.),
                  std::logic_error);
  CHECK_THROWS_AS(codegen::derivative_of<codegen::floating_numbers<double>>(core::op::cast, 1., 1.),
                  std::logic_error);
}

}  // namespace qkv::testing
