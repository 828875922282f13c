// SPDX-License-Identifier: BSL-1.0
#pragma once
// The plan of a kernel on one machine: its stages as this machine takes them, the tiles of each,
// and its writer. Pipelines and sheets read it.
#include <cstddef>
#include <set>
#include <vector>

#include "codegen/machines/machine.hpp"
#include "codegen/plan/on_machine/attention_tile.hpp"
#include "codegen/plan/on_machine/tensor_code.hpp"
#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

// The stages that loops of C++ compute, by their positions in the plan: none, those that can be, or
// exactly these.
struct plain_choice {
  bool where_possible = false;
  std::set<std::size_t> stages;
};

// Writers that take stages from Halide where they can.
struct other_writers {
  bool cuda = false;        // prints CUDA kernels; requires a CUDA compiler
  plain_choice plain = {};  // prints loops of C++ on CPUs
};

// Halide compiles a stage where its writer finds an operation that has no text, unless loops are
// required.
enum class loops { none, preferred, required };

struct machine_stage {
  stage what;
  std::vector<attention_tile> tiles;  // of an attention, if Halide compiles it
  int panel = 0;                      // columns of a panel, of a contraction
  tensor_code by_tensor_cores;
  loops by_loops = loops::none;
  bool with_next = false;  // on devices: a map in the launch of the stage after it
};

// Refers to the plan and to the machine, which must outlive it.
struct machine_plan {
  const plan &made;
  const machine &m;
  // On CPUs, those of the plan. A device takes each direction of a gradient's walk alone, and
  // stores products whose sums are placed.
  std::vector<machine_stage> list;
  std::vector<pack> packs;  // none on devices, which read params where they lie
  // Where the kernel runs by chunks: the plans of its parts, whose code is all that there is.
  std::vector<machine_plan> parts;
  bool is_in_task = false;  // a part, which the caller runs in tasks: it has none of its own
};

// Throws std::runtime_error if the call cannot know the size of some axis.
machine_plan plan_on(const plan &, const machine &, const other_writers & = {});
// Those of a kernel on each machine, in this order. A machine that is like another one of these and
// has its tiles is left out where nothing multiplies bf16: its code would be that of the other.
std::vector<machine_plan> plans_on(const plan &, const std::vector<machine> &,
                                   const other_writers & = {});

}  // namespace qkv::codegen
