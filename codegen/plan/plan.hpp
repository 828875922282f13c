// SPDX-License-Identifier: BSL-1.0
#pragma once
// The plan of a kernel: the stages and what each computes, and the memory layout of steps and
// params. A program that generates code or describes a kernel makes it once; objects, tables and
// sheets read it.
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/plan/chunks.hpp"
#include "codegen/plan/pack.hpp"
#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

struct plan {
  std::uint64_t fingerprint = 0;  // of the program as it was written
  program p;                      // simplified
  stages cut;
  std::vector<std::vector<axis_id>>
      order;  // of each step that is stored, on GPUs perhaps: its axes in memory, outermost first
  std::vector<pack> packs;  // on CPUs; devices read params where they lie
  // Where CPUs run the kernel by chunks: its parts, and the plan of each.
  std::optional<chunks> by_chunks;
  std::vector<plan> parts;
};

// The plan of a program as it was written. Cost: a few milliseconds.
plan plan_of(const program &);

}  // namespace qkv::codegen
