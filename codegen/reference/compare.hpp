// SPDX-License-Identifier: BSL-1.0
#pragma once
// Judges results by the 2x rule: the error against the reference is at most twice that of a plain
// loop, plus rounding noise. The reference is in double precision and three loops are in float32;
// for an output computed in f64 throughout, the reference is in long double and the loops are in
// double.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/reference/interpreter.hpp"

namespace qkv::codegen {

// The values that one output is compared with.
struct expectation {
  std::string name;
  dtype type = f32;                 // as which it is stored
  std::vector<std::string> axes;    // names, for messages
  std::vector<std::int64_t> shape;  // row-major
  std::vector<double> reference;
  // Plain loops; for each element, the larger error of the program's own form and of the compiled
  // code's.
  std::vector<double> in_sequence;  // sums in order
  std::vector<double> in_eights;    // sums in eight parts
  std::vector<double> fused;        // in order, products added unrounded
  std::vector<double> noise;        // further errors (noise.hpp); infinite where rounding decides
  bool zeros_believed = false;      // some loop, or rounding alone, may make all 0
  std::vector<bool> zero;           // positions whose result must be exactly 0; empty: none
};

struct verdict {
  bool right = false;
  double error =
      0;  // of the worst element: the one furthest beyond, or nearest to, what is allowed
  double allowed = 0;    // there
  std::int64_t at = -1;  // its position, row-major; -1: nothing differs, or the output as a whole
  std::string text;      // one line
};

// Element by element, with Y the largest error of the three loops. A row runs along the last axis;
// s is the largest magnitude of the reference in it.
//   |result - reference| <= 2 min(max over all of Y, s * max over rows of (Y / s))
//                         + 4 u s + 2 noise + smallest
// where u is the unit roundoff of the type, 2^-24 for f32 and 2^-53 for f64. The noise of a
// contraction or reduction is u times the sum of its |terms|, carried through the pointwise steps
// after it (noise.hpp). Compiled code that contracts in another order, or scales what exp takes
// before it is contracted, rounds other numbers: the loops and the noise of its form count, too.
// `smallest` is the type's smallest number. Infinities and NaNs must match the reference (values
// beyond the type's range count as infinities). Promised zeros must be exactly 0. A result that is
// 0 everywhere is wrong if the zeros are neither promised nor believed. Where the noise is
// infinite, any result is right. Never throws on wrong results.
verdict compare(const expectation &, std::span<const double> result);

// The verdicts of all elements that are wrong; of an output that is wrong as a whole (the number of
// its elements, 0 everywhere), that one alone.
std::vector<verdict> wrong_elements(const expectation &, std::span<const double> result);

// In what follows, `computed` is the same kernel in the form that compiled code was made of;
// nullptr for the program itself.
//
// Everything needed to judge results of a kernel for these arguments, outputs in order. A zero is
// promised if the reference and the loops give 0 and no step turns a rounding error into 0 (as relu
// does). Cost: five interpretations; with `computed`, ten.
std::vector<expectation> expected(const program &, const arrays &arguments, const size_map &sizes,
                                  const program *computed = nullptr);

// The same; or nothing, if the reference, its noise and one loop suffice to know that `compare`
// finds all results right. Cost: three interpretations at most if nothing is returned, else as
// `expected`.
std::vector<expectation> doubtful(const program &, const arrays &arguments, const size_map &,
                                  const arrays &results, const program *computed = nullptr);

// The worst verdict over all outputs; results by name.
verdict judge(const program &, const arrays &arguments, const size_map &, const arrays &results,
              const program *computed = nullptr);

}  // namespace qkv::codegen
