// SPDX-License-Identifier: BSL-1.0
#pragma once
// The source of device memory of compiled code.
#include <Halide.h>

namespace qkv::codegen {

// The same code, which requests device memory from the runtime library in place of Halide's
// runtime: the library counts and limits it.
Halide::Module with_counted_device_memory(const Halide::Module &);

}  // namespace qkv::codegen
