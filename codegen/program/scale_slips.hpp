// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips in what scales scores and results: a bias under the root, two caps, the share of a sink.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> scale_slips(const program &);

}  // namespace qkv::codegen
