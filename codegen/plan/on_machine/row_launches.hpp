// SPDX-License-Identifier: BSL-1.0
#pragma once
// Which maps of a device share a launch: reductions of rows, and what reads them at the same rows.
#include <vector>

#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

// Per stage: true for a map in the launch of the next one. mean<d>(x), mean<d>(c * c) and
// c * rsqrt(..) of a norm are one launch; a mean that anything else reads has a launch of its
// own.
std::vector<bool> shared_launches(const plan &, const std::vector<stage> &);

}  // namespace qkv::codegen
