// SPDX-License-Identifier: BSL-1.0
#pragma once
// The keys that a tile of query rows can see at all: blocks outside are skipped, in whatever
// formula the mask is written.
#include <Halide.h>

#include <functional>
#include <map>
#include <vector>

#include "codegen/halide/lower/context.hpp"

namespace qkv::codegen {

// Keys outside [from, to) are masked for every row of the tile. Undefined: no bound follows from
// the mask.
struct key_range {
  Halide::Expr from, to;
  bool is_chosen = false;  // by whether sums wrap around: bounds inference does not solve for that
};

// The first and the last position of a tile's rows along each of their axes.
struct positions_of_rows {
  Halide::Expr first, last;
};
using row_range = std::map<axis_id, positions_of_rows>;

// The keys that some sum of the stage needs. outer: the positions along the other axes.
key_range visible_keys(const context &, const attention_stage &, const row_range &rows,
                       const indices &outer);

// Every row of the tile has the keys outside of these ranges in the sum. Where the bounds of a mask
// are unknown, its range has none.
std::vector<key_range> hidden_keys(const context &, const attention_stage &, const weighted_sum &,
                                   const row_range &rows, const indices &outer);

}  // namespace qkv::codegen
