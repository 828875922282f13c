#pragma once
// Where compiled code takes memory of a device from.
#include <Halide.h>

namespace qkv::codegen {

// The same code, which asks the runtime library for memory of a device in place of Halide's
// runtime: the library counts and limits it.
Halide::Module with_counted_device_memory(const Halide::Module &);

}  // namespace qkv::codegen
