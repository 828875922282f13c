// SPDX-License-Identifier: BSL-1.0
#pragma once
// The report of the code generator on one stage of a kernel; the sheet prints it.
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/plan/plan.hpp"
#include "codegen/sheets/formula.hpp"

namespace qkv::codegen {

struct stage_report {
  std::string kind;                 // "contraction", "attention", "map"
  std::string name;                 // label of the step that it computes
  std::vector<std::string> stores;  // labels of the results that it writes to memory
  bool is_taken = true;             // false: these sizes choose other stages
  formula flops;                    // as many as masks leave or hide
  formula stored;                   // bytes of results that are not those of the kernel
  std::vector<std::string>
      never_stored;  // labels of the steps that exist only in tiles or registers
  // Products for each pair, where one walk sums the pairs of a gradient both ways (CPUs), and where
  // each way takes its own; else 0.
  int products = 0, products_apart = 0, walks_apart = 0;
  // Products of pairs that maps put at positions there.
  std::vector<std::string> stored_on_gpus = {};
  formula recomputed = {};  // flops of steps that a stage before computes, too
};

// The steps that a stage computes: those that it stores, and those that it recomputes for them.
std::vector<node_id> computed_in(const plan &, const stage &);

// The stages of a kernel in the order of computation, with the costs of a call of these sizes (-1:
// unknown).
std::vector<stage_report> reports_of(const plan &, const std::vector<std::int64_t> &size);

}  // namespace qkv::codegen
