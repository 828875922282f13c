// SPDX-License-Identifier: BSL-1.0
#pragma once
// The place of a printed kernel in Halide's pipeline: a Func whose loops become one launch of it.
#include <Halide.h>

#include <map>
#include <string>
#include <vector>

#include "codegen/cuda/printed_kernel.hpp"
#include "codegen/halide/lower/context.hpp"

namespace qkv::codegen {

// Collects what a printed kernel reads and writes: its tensors with their layout, and numbers.
class placeholder {
 public:
  placeholder(const context &c, printed_kernel &k) : c_(c), k_(k) {}

  // Arguments and stored steps; returns the position among the tensors of the kernel.
  int tensor(node_id);
  int written(node_id);  // a second result
  int result(node_id);   // what the placeholder itself stores
  int scratch(const Halide::Func &, const Halide::Expr &size);  // memory of so many floats
  // The text of a number of the host.
  std::string number(const Halide::Expr &);
  // The texts of an element, of the address of the first one, and of a stride. Coordinates and
  // dimensions are innermost first.
  std::string element(int tensor, const std::vector<std::string> &at) const;
  std::string first(int tensor) const;
  std::string stride(int tensor, std::size_t dimension) const;

  // The definition of the Func.
  Halide::Expr value(const Halide::Type &) const;
  // The same for a second result.
  static Halide::Expr value_of_written(const Halide::Type &);

 private:
  int add(node_id, bool written);

  const context &c_;
  printed_kernel &k_;
  std::map<node_id, int> seen_;
  std::vector<Halide::Expr> reads_;
  std::vector<Halide::Expr> before_;  // elements of steps that must be stored before the launch
};

// This lowering pass puts one launch into the place of the loops of each placeholder.
class launch_printed : public Halide::Internal::IRMutator {
 public:
  explicit launch_printed(printed_kernels kernels) : kernels_(std::move(kernels)) {}

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::For *op) override;
  printed_kernels kernels_;
};

}  // namespace qkv::codegen
