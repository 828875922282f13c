// SPDX-License-Identifier: BSL-1.0
#pragma once
// Changes to compiled code after Halide's last pass.
#include <Halide.h>

namespace qkv::codegen {

// The same module with other code, and with other data where `data` has the name of a buffer.
Halide::Module rewritten(const Halide::Module &, Halide::Internal::IRMutator &code,
                         const Halide::Buffer<> &data = {});

}  // namespace qkv::codegen
