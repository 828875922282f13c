// SPDX-License-Identifier: BSL-1.0
#pragma once
// How long an expression is.
#include <Halide.h>

namespace qkv::codegen {

// Distinct operations, numbers and names: a shared part counts once.
inline int nodes_of(const Halide::Expr &e) {
  class counter : public Halide::Internal::IRGraphVisitor {
    using IRGraphVisitor::include;
    void include(const Halide::Expr &part) override {
      ++nodes;
      IRGraphVisitor::include(part);
    }

   public:
    int nodes = 0;
  } all;
  e.accept(&all);
  return all.nodes;
}

}  // namespace qkv::codegen
