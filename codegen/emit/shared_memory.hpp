// SPDX-License-Identifier: BSL-1.0
#pragma once
// Shared memory of CUDA kernels, away from the system's part of it.
#include <Halide.h>

#include <string>
#include <string_view>

namespace qkv::codegen {

// Bytes at the beginning of a block's shared memory that devices of compute capability 9.0 and
// later reserve. NVIDIA's compilers place variables behind them; Halide counts from 0.
inline constexpr int reserved_shared_memory = 1024;

// The same PTX with every access to shared memory that many bytes further.
std::string shared_memory_shifted(std::string_view ptx, int bytes);

// The same code, which leaves the system's part alone and requests as much more at each launch.
Halide::Module with_shared_memory_apart(const Halide::Module &);

}  // namespace qkv::codegen
