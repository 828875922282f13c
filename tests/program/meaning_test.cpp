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

TEST_CASE("what has no meaning alone is refused") {
  CHECK_THROWS_AS(codegen::meaning_of<codegen::floating_numbers<double>>(core::op::dot, 1., 1.),
                  std::logic_error);
}

}  // namespace qkv::testing
