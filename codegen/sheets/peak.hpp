// SPDX-License-Identifier: BSL-1.0
#pragma once
// The most memory that a call takes at once besides arguments, results and packed params.
#include <cstdint>
#include <vector>

#include "codegen/sheets/call_memory.hpp"

namespace qkv::codegen {

struct peak {
  formula bytes;
  int stage = -1;  // that runs then, by its position in the plan; -1: of no buffers
};

// Of these sweeps; the sizes decide which moment is the greatest.
peak peak_of(const call_memory &, const std::vector<std::int64_t> &size);

// Bytes that parts of a kernel that runs by chunks leave to each other.
formula between_parts(const chunks &);

// Of a plan, on a CPU. Sizes that are not known (-1) are taken for 512, those of batches for 1.
peak peak_of(const plan &, const std::vector<std::int64_t> &size);

}  // namespace qkv::codegen
