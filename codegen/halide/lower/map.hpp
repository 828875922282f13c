// SPDX-License-Identifier: BSL-1.0
#pragma once
// The algorithm of a map stage: pointwise steps at every position, or one reduction, softmax or
// normalisation.
#include <Halide.h>

#include "codegen/halide/lower/context.hpp"
#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

struct map_funcs {
  // A reduction runs in 16 partial results, lane k taking every 16th element: vectorises, and the
  // same numbers on every target. A long sum has two per lane: that of the elements since the last
  // multiple of 256, and that of all blocks of 256 before. One after the other, five million equal
  // numbers would lose 2.7e-3.
  struct reduction {
    Halide::Func partial;  // (lane, position...): one number, or two of a long sum
    Halide::Func result;   // (position...)
    std::vector<Halide::RVar> over;
    std::vector<Halide::Var> position;  // innermost first
    bool over_rows = false;  // neighbours in memory are neighbouring positions, not elements
  };
  Halide::Var lane{"lane"};
  std::vector<reduction> reductions;  // in order of computation; the last may be `out` itself
  // (position...): sums that are added in place, one step after the other; defined for cumsum,
  // along one axis, and for put, at positions along one axis.
  Halide::Func in_place;
  Halide::Var along;                // that axis; not in the update
  std::vector<Halide::RVar> steps;  // innermost first
  Halide::Func out;
  std::vector<Halide::Var> position;  // innermost first
};

inline constexpr int reduction_block = 256;

map_funcs lower_map(context &, const map_stage &);

}  // namespace qkv::codegen
