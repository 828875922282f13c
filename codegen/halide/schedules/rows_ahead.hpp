// SPDX-License-Identifier: BSL-1.0
#pragma once
// Rows of an argument that a loop reads some turns later.
#include <Halide.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace qkv::codegen {

// Hardware prefetches within a page of memory. A loop that reads a row of an argument at a turn
// waits for memory at the beginning of each page, which for 128 features is every eighth row. This
// lowering pass prefetches the row that lies a page ahead.
//
//   for (key, 0, n) { .. K[key * stride + ramp(0, 1, 16)] .. K[key * stride + ramp(16, 1, 16)] .. }
//     -> for (key, 0, n) {
//          prefetch K[(key + 32) * stride]
//          prefetch K[(key + 32) * stride + 16]
//          ..
//        }
//
// Arguments of fewer bytes, which stay in the second cache, are not prefetched. Where a loop around
// it reads the same rows again, the first turn of that loop prefetches. Rows that do not exist are
// prefetched in vain. Loops whose names have `no_prefetch_name` are left alone.
class rows_ahead : public Halide::Internal::IRMutator {
 public:
  explicit rows_ahead(std::int64_t least_bytes) : least_bytes_(least_bytes) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *op) override;

  Halide::Internal::Stmt with_prefetches(const Halide::Internal::For *op);
  Halide::Expr is_first_to_read(const std::vector<Halide::Expr> &lines) const;

  struct loop_around {
    const Halide::Internal::For *loop;
    Halide::Internal::Scope<> of_turn;  // its variable, and what is computed from it
  };
  const std::int64_t least_bytes_;
  std::vector<loop_around> around_;               // within a task
  int loops_ = 0;                                 // around, in all
  std::map<std::string, Halide::Expr> is_large_;  // of arguments whose rows are prefetched
};

}  // namespace qkv::codegen
