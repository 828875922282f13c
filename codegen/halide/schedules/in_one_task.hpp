// SPDX-License-Identifier: BSL-1.0
#pragma once
// Code that runs inside a task of its caller.
#include <Halide.h>

namespace qkv::codegen {

// This lowering pass makes parallel loops serial: other tasks have the other threads.
class in_one_task : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
};

}  // namespace qkv::codegen
