#pragma once
// Is a result right? The 2x rule: its error against the reference is at most twice that of a plain loop, plus rounding
// noise. The reference is in double precision and three loops in float32; where all that an output is made of is f64, the
// reference is in long double and the loops in double.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/reference/interpreter.hpp"

namespace qkv::codegen {

// What one output is compared with.
struct expectation {
  std::string name;
  dtype type = f32;                 // as which it is stored
  std::vector<std::string> axes;    // names, for messages
  std::vector<std::int64_t> shape;  // row-major
  std::vector<double> reference;
  std::vector<double> in_sequence;  // a plain loop with sums in order
  std::vector<double> in_eights;    // the same with sums in eight parts
  std::vector<double> fused;        // in order, products added before they are rounded
  std::vector<double> noise;  // what rounding may do besides (noise.hpp): infinite where it decides
  bool zeros_believed =
      false;  // reference and loops are 0 everywhere, or too small to be normal numbers
  std::vector<bool> zero;  // where the result is exactly 0 by promise; empty: nowhere
};

struct verdict {
  bool right = false;
  double error =
      0;  // of the worst element: the one furthest beyond, or nearest to, what is allowed
  double allowed = 0;    // there
  std::int64_t at = -1;  // its position, row-major; -1 when nothing differs
  std::string text;      // one line
};

// Element by element, with Y the largest error of the three loops. A row is what the last axis runs along, s the largest
// magnitude of the reference in it.
//   |result - reference| <= 2 min(max over all of Y, s * max over rows of (Y / s)) + 4 u s + 2 noise + smallest
// where u is the unit roundoff of its type, 2^-24 for f32 and 2^-53 for f64; the noise of a contraction or reduction is u
// times the sum of its |terms|, and what pointwise steps make of that (noise.hpp); smallest is the type's smallest number.
// Infinities and NaNs stand where the reference has them (a value beyond the type is an infinity). Promised zeros are
// exactly 0. A result that is 0 everywhere, neither promised nor believed, is wrong. Where the noise is infinite, any
// result is right. Never throws on wrong results.
verdict compare(const expectation &, std::span<const double> result);

// Everything that is needed to judge results of a kernel for these arguments, outputs in order. A zero is promised where
// the reference and the loops give one and no step turns a rounding error into it (relu and its like do). Cost: five
// interpretations.
std::vector<expectation> expected(const program &, const arrays &arguments, const size_map &sizes);

// The worst verdict over all outputs; results by name.
verdict judge(const program &, const arrays &arguments, const size_map &, const arrays &results);

}  // namespace qkv::codegen
