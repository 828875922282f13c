#pragma once
// What a kernel computes, by the interpreter, held against a formula that the test writes out element by element.
#include <fmt/format.h>

#include <cmath>
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

inline double at(const array &a, const position &i) {
  std::int64_t k = 0;
  for (std::size_t d = 0; d < a.shape.size(); ++d) k = k * a.shape[d] + i[d];
  return a.data.at(static_cast<std::size_t>(k));
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
  std::int64_t n = 1;
  for (std::int64_t e : shape) n *= e;
  if (static_cast<std::int64_t>(got.data.size()) != n)
    return fmt::format("{} elements, not {}", got.data.size(), n);
  position i(shape.size(), 0);
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t rest = k;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) i[d] = rest % shape[d];
    const double want = expected(i), is = got.data[static_cast<std::size_t>(k)];
    if (!same_number(is, want))
      return fmt::format("({}) is {:.17g}, not {:.17g}", fmt::join(i, ","), is, want);
  }
  return "";
}

}  // namespace qkv::testing
