// SPDX-License-Identifier: BSL-1.0
#pragma once
// Rows of an argument that a loop reads some iterations later.
#include <Halide.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "codegen/halide/schedules/prefetch.hpp"

namespace qkv::codegen {

// Hardware prefetches within a page of memory. A loop that reads a row of an argument in each
// iteration waits for memory at the beginning of each page, which for 128 features is every eighth
// row. This lowering pass prefetches the row that lies a page ahead.
//
//   for (key, 0, n) { .. K[key * stride + ramp(0, 1, 16)] .. K[key * stride + ramp(16, 1, 16)] .. }
//     -> let K.is_large = bytes of K >= least_bytes
//        for (key, 0, n) {
//          if (K.is_large) {
//            prefetch K[(key + 32) * stride]
//            prefetch K[(key + 32) * stride + 16]
//          }
//          ..
//        }
//
// Rows are prefetched where their distance is not known at build, they are shorter than half a
// page, and their addresses are made of sums and products. Arguments of fewer than `least_bytes`,
// which stay in the second cache, are left alone, and so are loops whose names have
// `no_prefetch_name`. Where a loop around it reads the same rows again, the first iteration of that
// loop prefetches. Rows that do not exist are prefetched in vain.
class rows_ahead : public Halide::Internal::IRMutator {
 public:
  explicit rows_ahead(std::int64_t least_bytes) : large_(least_bytes) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::IfThenElse *op) override;

  Halide::Internal::Stmt with_prefetches(const Halide::Internal::For *op);
  bool moves_around(const Halide::Expr &address) const;
  Halide::Expr is_first_to_read(const std::vector<Halide::Expr> &lines,
                                const Halide::Expr &extent) const;

  struct loop_around {
    const Halide::Internal::For *loop;
    Halide::Internal::Scope<> names;  // its variable, and what is computed from it
  };

  std::vector<loop_around> around_;  // within a task
  // Each with the number of loops of a task around it.
  std::vector<std::pair<std::size_t, Halide::Expr>> conditions_;
  int loops_ = 0;  // around, in all
  large_arguments large_;
};

}  // namespace qkv::codegen
