#pragma once
// What a program means: every step computed at every position and kept. Slow, plain, in double precision; the oracle
// that compiled kernels are compared with.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// A dense tensor of any dtype as numbers, row-major.
struct array {
  std::vector<std::int64_t> shape;
  std::vector<double> data;
};
using arrays = std::map<std::string, array, std::less<>>;
using axis_sizes = std::map<std::string, std::int64_t, std::less<>>;  // by name; at least the axes decided at the call

// How results are rounded and sums are made. The two float forms are the yardsticks of what honest f32 may be off by.
enum class arithmetic {
  exact,             // double throughout
  float_in_order,    // every step rounded to f32, sums one after the other
  float_by_eights,   // the same, sums in 8 partial sums
};

// Outputs in order of the signature. Cost: the product of all axes of each step, time and memory for each of them.
// Throws std::runtime_error when an argument is missing or has other extents than the sizes say.
std::vector<array> interpret(const program &, const arrays &arguments, const axis_sizes &sizes, arithmetic = arithmetic::exact);

}  // namespace qkv::codegen
