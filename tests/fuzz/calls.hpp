// SPDX-License-Identifier: BSL-1.0
#pragma once
// Calls of a compiled kernel in guarded memory, and descriptions of what is wrong with their
// results.
#include <cstdint>
#include <qkv/device.hpp>
#include <string>

#include "codegen/reference/interpreter.hpp"
#include "tests/support/guarded_memory.hpp"

struct qkv_kernel;

namespace qkv::fuzz {

struct call {
  codegen::arrays arguments;
  codegen::size_map sizes;
  device on = device::host;
  std::uint64_t seed = 0;  // selects strides, and the guarded end of each tensor
};

testing::guard guard_of(const call &);

// Empty, or "status: ..", "memory: ..", "threads: .." (one and two threads differ), "wrong: ..".
std::string wrong_call(const qkv_kernel &, const codegen::program &, const call &);

// The same for arguments that hold NaN and infinities. An element that is finite, or not finite, in
// every order of contraction must be so in the result, and finite ones must be right.
std::string wrong_special(const qkv_kernel &, const codegen::program &, const call &);

}  // namespace qkv::fuzz
