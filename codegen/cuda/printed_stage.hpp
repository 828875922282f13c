// SPDX-License-Identifier: BSL-1.0
#pragma once
// A stage whose kernel is printed, and what it stores.
#include <memory>
#include <utility>
#include <vector>

#include "codegen/cuda/printed_kernel.hpp"
#include "codegen/program/program.hpp"

namespace qkv::codegen {

struct printed_stage {
  std::shared_ptr<printed_kernel> kernel;
  std::vector<std::pair<node_id, Halide::Func>> roots;  // scheduled
};

}  // namespace qkv::codegen
