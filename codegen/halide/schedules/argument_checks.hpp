// SPDX-License-Identifier: BSL-1.0
#pragma once
// Checks of a call's arguments, which the runtime makes once for all kernels.
#include <Halide.h>

#include <set>
#include <string>

namespace qkv::codegen {

// Halide begins each entry with checks of types, extents, strides and of the regions that some form
// of some stage may read: a quarter of a kernel's code, and the regions are computed for the checks
// alone. The runtime has refused all that they would (runtime/call/check.cpp). This lowering pass
// removes them. Checks of what is computed stay: limits, allocations, results of other functions.
class without_argument_checks : public Halide::Internal::IRMutator {
 public:
  // `arguments`: the names of all buffers that a call passes.
  explicit without_argument_checks(std::set<std::string> arguments);

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::AssertStmt *op) override;
  bool is_of_arguments(const Halide::Internal::Call &error) const;

  const std::set<std::string> arguments_;
};

}  // namespace qkv::codegen
