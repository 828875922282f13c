// SPDX-License-Identifier: BSL-1.0
#pragma once
// Rows of an argument that the next register tile reads.
#include <Halide.h>

namespace qkv::codegen {

// An inner loop that reads a few rows of an argument, some numbers of each at a step, is over
// before hardware has recognised the rows, and the next ones lie in another page. This lowering
// pass prefetches these meanwhile, at the pace at which a row is read: a line of the cache at a
// time, in the order of memory. The steps that read as much are unrolled, unless they are long.
//
//   for (k, 0, 128) { .. A[a + k] .. A[b + k] .. }
//     -> for (k, 0, 16) {
//          prefetch A[a + (2 + k / 8) * (b - a) + (k % 8) * 16]
//          .. A[a + k * 8] .. A[b + k * 8] .. A[a + k * 8 + 1] ..
//        }
//
// Rows that do not exist are prefetched in vain: no address of a prefetch is an error. Loops whose
// names have `no_prefetch_name` are left alone.
class prefetched_rows : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
};

}  // namespace qkv::codegen
