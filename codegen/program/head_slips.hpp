// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in the order of parts: of heads, where features are split into them or merged; of windows.
#include <vector>

#include "codegen/program/program.hpp"
#include "codegen/program/slip.hpp"

namespace qkv::codegen {

// Such as split<heads, group, kv_heads>(Q) for keys of kv_heads, and merge<d_attn, d_v, heads>.
std::vector<slip> head_slips(const program &);

}  // namespace qkv::codegen
