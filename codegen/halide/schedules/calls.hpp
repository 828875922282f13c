// SPDX-License-Identifier: BSL-1.0
#pragma once
// Which Funcs a Func reads.
#include <Halide.h>

namespace qkv::codegen {

// True if the definition of `user` calls `used`.
bool calls(const Halide::Func &user, const Halide::Func &used);

}  // namespace qkv::codegen
