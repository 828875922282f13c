// SPDX-License-Identifier: BSL-1.0
#pragma once
// Conditions on positions, tried position by position at one size.
#include <cstdint>
#include <optional>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// A query to which a condition shows no key, though another one sees some; the last one is not
// tried. Nothing where arguments take part, or where an operation is one that this does not
// compute. Sizes that the call decides are a few times the largest number in the condition. Cost:
// milliseconds.
std::optional<std::int64_t> query_that_sees_nothing(const program &, node_id condition,
                                                    axis_id query, axis_id key);

}  // namespace qkv::codegen
