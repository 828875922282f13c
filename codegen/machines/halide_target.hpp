// SPDX-License-Identifier: BSL-1.0
#pragma once
// The target that Halide compiles for on a machine.
#include <Halide.h>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

inline Halide::Target halide_target(const machine &m) { return Halide::Target(m.target); }

}  // namespace qkv::codegen
