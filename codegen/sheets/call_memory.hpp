// SPDX-License-Identifier: BSL-1.0
#pragma once
// The memory that a call takes on a CPU besides arguments, results and packed params: buffers, and
// the sweeps that write and read them, in the order in which the code of codegen/halide runs.
#include <cstdint>
#include <vector>

#include "codegen/machines/panel_widths.hpp"
#include "codegen/plan/plan.hpp"
#include "codegen/sheets/formula.hpp"

namespace qkv::codegen {

// Of the tiles in vectors of the built-in CPUs, for calls of any rows, the largest: rows of a task,
// keys of a block, numbers in a vector, vectors of sums in registers, columns of a panel; and the
// least number of tasks of a walk that keeps its sums.
struct largest_tiles {
  static constexpr std::int64_t task_rows = 512, block_keys = 128, tasks = 8;
  static constexpr int lanes = 16, sums = 24;
  static inline const panel_widths panels = {{64, 48, 32}, {16, 32}, 48};
};

// A stage is one sweep, or several: a contraction packs its right operand first, say.
struct sweep {
  int stage = -1;                  // position in the plan
  std::vector<int> writes, reads;  // positions of buffers
};

// A buffer is there from the sweep that writes it to the last one that reads it.
struct call_memory {
  std::vector<formula> buffers;  // bytes of each
  std::vector<sweep> sweeps;
};

// On one thread: each other thread adds the sums and copies of its own task. Tiles of pairs,
// keys packed for a matrix unit and partial sums of maps are not counted, nor the rows that fill up
// a last tile. Requires all sizes.
call_memory memory_of(const plan &, const std::vector<std::int64_t> &size);

}  // namespace qkv::codegen
