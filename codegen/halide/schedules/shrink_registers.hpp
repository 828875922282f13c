// SPDX-License-Identifier: BSL-1.0
#pragma once
// Halide gives a register tile that is computed across the threads of a block its whole extent in
// every thread. This lowering pass leaves each thread the cells that it touches, which then fit
// into registers.
#include <Halide.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace qkv::codegen {

// Runs after GPU loops are fused: add it to the Halide::Pipeline that is compiled (on a Func it is
// ignored). Throws std::runtime_error when a tile is not split over the threads in one way, or a
// thread's part is not indexed by constants (a loop over it was left rolled): such a tile cannot
// live in registers.
class shrink_registers : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  using Expr = Halide::Expr;
  using Stmt = Halide::Internal::Stmt;

  struct tile {
    bool collecting = true;
    std::set<std::int64_t> cells;       // of the first thread
    std::map<std::int64_t, int> place;  // cell -> position in the thread's registers
    std::vector<std::int64_t> shift;    // where other threads' cells begin, for some sample threads
    std::vector<bool> known;            // of shift
  };

  static constexpr int samples = 4;  // the first thread, a neighbour in each direction, the last

  std::map<std::string, tile> tiles_;
  std::map<std::string, int> threads_;  // loop name -> extent
  std::vector<std::pair<std::string, Expr>> lets_;
  std::vector<std::array<bool, samples>>
      runs_;  // whether each guard around lets a sample thread in
  bool in_grid_ = false, in_thread_ = false;

  Expr with_lets(Expr e) const;
  Expr at_thread(Expr e, int sample) const;
  std::array<bool, samples> let_in_by(const Expr &guard) const;
  Expr place_of(const std::string &name, const Expr &index);
  void check_shift(const std::string &name, tile &t, const Expr &index, std::int64_t first);

 protected:
  Stmt visit(const Halide::Internal::For *op) override;
  Stmt visit(const Halide::Internal::LetStmt *op) override;
  Expr visit(const Halide::Internal::Let *op) override;
  Stmt visit(const Halide::Internal::IfThenElse *op) override;
  Stmt visit(const Halide::Internal::Allocate *op) override;
  Expr visit(const Halide::Internal::Load *op) override;
  Stmt visit(const Halide::Internal::Store *op) override;
};

}  // namespace qkv::codegen
