// SPDX-License-Identifier: BSL-1.0
#pragma once
// A kernel of a spec, for the mains that qkv_add_kernels writes.
#include <functional>
#include <string>

namespace qkv::codegen {

struct program;

// A kernel is traced on request, so that one wrong kernel does not prevent the others from being
// built.
struct traceable {
  std::string identifier;  // the last part of the kernel's name in C++
  std::function<program()> trace{};
  std::function<program()> source{};  // of a derived kernel: what it is derived from
  bool is_gradient = false;           // of its source
};

}  // namespace qkv::codegen
