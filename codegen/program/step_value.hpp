// SPDX-License-Identifier: BSL-1.0
#pragma once
// The number that a step makes of numbers, for checks that try a formula at some places.
#include <optional>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Conditions are 0 or 1. Nothing for operations that are not pointwise, broadcast apart, and for
// quotients of whole numbers.
std::optional<double> value_of(const node &, const double (&operands)[3]);

}  // namespace qkv::codegen
