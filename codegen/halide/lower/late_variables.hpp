// SPDX-License-Identifier: BSL-1.0
#pragma once
// Variables that definitions read though Halide learns their values last: it infers bounds of
// dimensions, and copies conditions into bounds, in each of some forty passes, for as long as it
// takes to compile the rest.
#include <Halide.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace qkv::codegen {

// Makes such variables, and knows the values of those that the call decides.
class late_variables {
 public:
  // `of_call`: a variable that belongs to a parameter of each call.
  explicit late_variables(Halide::Expr of_call) : of_call_(std::move(of_call)) {}

  // The variable of the loop over `v` in a definition of the Func `around`, 0 for the first. It has
  // a value inside this loop alone: Funcs that read it are computed there, and so is what they read
  // at such positions, or it `is_whole`.
  Halide::Expr loop(const std::string &around, int definition, const std::string &v) const;

  // These dimensions of the Func have such extents from 0 on, wherever it is read: bounds inference
  // would not know that outside the loops.
  void is_whole(Halide::Func, const std::vector<std::pair<Halide::Var, Halide::Expr>> &extents);

  // A value that parameters of the call decide, as one variable.
  Halide::Expr of_call(const std::string &name, const Halide::Expr &value);

  // Binds those of the call, and leaves the others to their loops.
  void add_to(Halide::Pipeline &) const;

 private:
  Halide::Expr variable(const Halide::Type &, const std::string &name) const;

  const Halide::Expr of_call_;
  std::vector<std::pair<std::string, Halide::Expr>> values_;
  std::set<std::string> whole_;
};

}  // namespace qkv::codegen
