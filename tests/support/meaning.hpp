// SPDX-License-Identifier: BSL-1.0
#pragma once
// Compares a kernel's results in the interpreter with a formula that the test writes out element by
// element.
#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "codegen/program/from_graph.hpp"
#include "codegen/reference/interpreter.hpp"
#include "tests/support/random.hpp"

namespace qkv::testing {

using codegen::array;
using codegen::arrays;
using position = std::vector<std::int64_t>;

template <class Kernel>
arrays meaning(const Kernel &kernel, const arrays &arguments, const codegen::size_map &sizes = {}) {
  return codegen::interpret(codegen::make_program(kernel), arguments, sizes);
}

inline double at(const array &a, std::span<const std::int64_t> i) {
  std::int64_t k = 0;
  for (std::size_t d = 0; d < a.shape.size(); ++d) k = k * a.shape[d] + i[d];
  return a.data.at(static_cast<std::size_t>(k));
}
inline double at(const array &a, std::initializer_list<std::int64_t> i) {
  return at(a, std::span(i.begin(), i.size()));
}

// Calls f(position) for every position of a shape, the last axis running fastest.
template <class F>
void for_each_position(const position &shape, F f) {
  std::int64_t n = 1;
  for (std::int64_t e : shape) n *= e;
  position i(shape.size(), 0);
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t rest = k;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) i[d] = rest % shape[d];
    f(i);
  }
}

// The array of a formula, for formulas made of it.
template <class F>
array tabulated(const position &shape, F formula) {
  array a{shape, {}};
  for_each_position(shape, [&](const position &i) { a.data.push_back(formula(i)); });
  return a;
}

inline bool same_number(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= 1e-12 * (1 + std::fabs(b));
}

// Empty when `got` has this shape and holds expected(position) everywhere; else one line.
template <class F>
std::string differs(const array &got, const position &shape, F expected) {
  if (got.shape != shape)
    return fmt::format("shape is ({}), not ({})", fmt::join(got.shape, ","), fmt::join(shape, ","));
  std::size_t k = 0;
  std::string line;
  for_each_position(shape, [&](const position &i) {
    if (!line.empty()) return;
    if (k >= got.data.size()) {
      line = fmt::format("only {} elements", k);
      return;
    }
    const double want = expected(i), is = got.data[k++];
    if (!same_number(is, want))
      line = fmt::format("({}) is {:.17g}, not {:.17g}", fmt::join(i, ","), is, want);
  });
  if (line.empty() && k != got.data.size())
    line = fmt::format("{} elements, not {}", got.data.size(), k);
  return line;
}

}  // namespace qkv::testing
