// SPDX-License-Identifier: BSL-1.0
#pragma once
// The meaning of a program: computes and keeps every step at every position, in double precision,
// or in long double if the program has f64. This is the oracle that compiled kernels are compared
// with. Plain loops in the precision of kernels provide the yardsticks of the comparison.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codegen/program/program.hpp"
#include "codegen/program/sizes.hpp"
#include "codegen/reference/arrays.hpp"
#include "codegen/reference/order.hpp"

namespace qkv::codegen {

// Outputs by name. An absent element of an f32 output is -inf, of any other type 0. Sizes that the
// shapes of the arguments decide need not be given. Throws std::invalid_argument when an argument
// is missing, a shape does not fit, sizes disagree or are not known. Cost: a multiplication in
// about a nanosecond, on one thread; memory of all live steps.
arrays interpret(const program &, const arrays &arguments, const size_map & = {});

// The same, with the error of an honest evaluation of each element beyond that of plain loops
// (noise.hpp); infinite where rounding decides the element. Cost: twice that of interpret.
struct measured {
  arrays values, noise;
};
measured interpret_and_measure(const program &, const arrays &arguments, const size_map & = {});

// Changes the value of a step, row-major over its shape; tests plant mistakes with it.
using alteration = std::function<void(const node &, std::vector<double> &)>;

// The same in float32: arguments are rounded first, then every operation. The yardsticks of the
// error that honest f32 may have.
arrays interpret_as_float(const program &, const arrays &arguments, const size_map &, order,
                          const alteration & = {});
// The same in double, the yardstick of honest f64.
arrays interpret_as_double(const program &, const arrays &arguments, const size_map &, order,
                           const alteration & = {});

// The size of every axis: the given ones and those that the shapes of the arguments decide. Throws
// as interpret does.
std::vector<std::int64_t> sizes_of(const program &, const arrays &arguments, const size_map &);

}  // namespace qkv::codegen
