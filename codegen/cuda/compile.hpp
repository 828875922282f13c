// SPDX-License-Identifier: BSL-1.0
#pragma once
// CUDA C++ to PTX, by a compiler that the build has found.
#include <string>

namespace qkv::codegen {

// The text of a skeleton, as "mma", with what its first line includes. Throws std::logic_error for
// one that does not exist.
std::string skeleton(const std::string &name);

// Returns PTX for a target like sm_80. `compiler`: nvcc, or clang from version 18 on, which needs
// nothing of CUDA. `folder`: for temporary files. Takes about two seconds. Throws
// std::runtime_error with the first error.
std::string ptx_of(const std::string &text, const std::string &compiler, const std::string &target,
                   const std::string &folder);

}  // namespace qkv::codegen
