// SPDX-License-Identifier: BSL-1.0
#pragma once
// The algorithm of a contraction stage: sum over k of left(row, k) * right(k, column), then the
// pointwise steps after it.
#include <Halide.h>

#include "codegen/halide/lower/context.hpp"

namespace qkv::codegen {

struct contraction_funcs {
  int panel = 0;                   // columns that lie together in `packed`
  Halide::Func sum;                // (column, row, outer...)
  std::vector<Halide::RVar> over;  // innermost first
  Halide::Func left;    // (over..., row, outer...), or undefined: numbers as they lie in memory
  Halide::Func packed;  // right operand by panels; undefined when the runtime packs it
  Halide::Var lane{"lane"}, k{"k"}, panel_index{"panel"};
  Halide::Func out;
  Halide::Var row{"row"}, column{"column"};
  std::vector<Halide::Var> outer;  // innermost first
  bool has_row = true;
};

// `panel`: columns of a panel.
contraction_funcs lower_contraction(context &, const contraction_stage &, int panel);

}  // namespace qkv::codegen
