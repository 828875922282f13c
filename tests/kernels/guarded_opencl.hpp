#pragma once
// Device memory in guarded blocks, where the OpenCL device is a CPU: kernels then read and write the host's pages.
#include "tests/support/guarded_memory.hpp"

namespace qkv::testing {

// Which end of the buffers made from now on is guarded. The first call must come before the first kernel.
void guard_opencl(guard);

// How many buffers were guarded so far.
std::size_t guarded_opencl_buffers();

}  // namespace qkv::testing
