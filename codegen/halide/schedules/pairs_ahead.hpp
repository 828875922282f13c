// SPDX-License-Identifier: BSL-1.0
#pragma once
// Numbers of pairs that the next tile reads.
#include <Halide.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "codegen/halide/schedules/prefetch.hpp"

namespace qkv::codegen {

// A tile of pairs (a bias, a mask) has a short run of each of its rows, and each row lies in
// another page of memory: no hardware foresees the next tile. This lowering pass prefetches it step
// by step while products of this tile are computed, behind which its lines arrive.
//
//   for (T, 0, tiles) {
//     produce pair_tile__bias { for (jo, 0, 8) .. bias[(T * 32 + 5) * n + ramp(jo * 16, 1, 16)] }
//     consume pair_tile__bias { for (scores.jo, 0, 8) .. }
//   }
//     -> .. for (scores.jo, 0, 8) { prefetch bias[((T + 1) * 32 + 5) * n + scores.jo * 16] .. }
//
// The next tile is that of the innermost loop around which reads elsewhere in its next iteration;
// a loop over tasks ends the search. Arguments of fewer than `least_bytes`, which stay in the
// second cache, are left alone. Rows that do not exist are prefetched in vain.
class pairs_ahead : public Halide::Internal::IRMutator {
 public:
  explicit pairs_ahead(std::int64_t least_bytes) : large_(least_bytes) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt *op) override;
  Halide::Internal::Stmt visit(const Halide::Internal::ProducerConsumer *op) override;

  struct argument {
    std::string name;
    Halide::Type type;
    int axes;
  };
  struct loop {
    std::string name;
    Halide::Expr min, extent;
  };
  // The loops that make a tile, and where the lines begin that an iteration of all reads.
  struct tile {
    argument of;
    std::vector<loop> loops;          // outermost first
    std::vector<Halide::Expr> lines;  // in the next tile
    std::size_t around;               // it stands inside of so many loops and names
  };
  class reader;

  void leave();
  void learn(const Halide::Internal::For &innermost);
  Halide::Expr in_next_tile(Halide::Expr address) const;
  Halide::Expr before_tile(Halide::Expr) const;
  Halide::Internal::Stmt prefetches();
  Halide::Internal::Stmt prefetches(const tile &, const Halide::Expr &step,
                                    const Halide::Expr &steps);
  using scope = std::variant<const Halide::Internal::For *, const Halide::Internal::LetStmt *>;
  std::vector<scope> around_;
  // As many of these are around the tile that is produced, or consumed, here; 0: none is.
  std::size_t produced_at_ = 0, consumed_at_ = 0;
  std::vector<tile> next_;  // not prefetched yet
  large_arguments large_;
};

}  // namespace qkv::codegen
