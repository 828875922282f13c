// SPDX-License-Identifier: BSL-1.0
#pragma once
// Device memory in guarded blocks, if the OpenCL device is a CPU: its kernels read and write the
// host's pages.
#include "tests/support/guarded_memory.hpp"

namespace qkv::testing {

// Sets the guarded end of buffers created from now on. The first call must precede the first
// kernel.
void guard_opencl(guard);

// Number of buffers guarded so far.
std::size_t guarded_opencl_buffers();

}  // namespace qkv::testing
