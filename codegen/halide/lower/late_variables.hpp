// SPDX-License-Identifier: BSL-1.0
#pragma once
// Variables whose values Halide does not see until its own passes are done. As dimensions or as
// conditions they would cost bounds inference in each of some forty passes.
#include <Halide.h>

#include <string>
#include <utility>
#include <vector>

namespace qkv::codegen {

class late_variables {
 public:
  // `carrier`: a variable that belongs to a parameter of each call.
  explicit late_variables(Halide::Expr carrier) : carrier_(std::move(carrier)) {}

  // The variable of the loop over `v` in a definition of the Func `around`, 0 for the first. It has
  // a value inside this loop alone: Funcs that read it are computed there. A Func that is computed
  // before and read at such positions requires a bound: inference would not find one.
  Halide::Expr loop(const std::string &around, int definition, const std::string &v) const;

  // A value that parameters of the call decide, as one variable.
  Halide::Expr of_call(const std::string &name, const Halide::Expr &value);

  // Adds a pass that binds the values of the call. Checks of arguments are gone before it runs:
  // some would read, outside the loops, what Halide has inferred from their positions.
  void add_to(Halide::Pipeline &) const;

 private:
  Halide::Expr variable(const Halide::Type &, const std::string &name) const;

  const Halide::Expr carrier_;
  std::vector<std::pair<std::string, Halide::Expr>> values_;
};

}  // namespace qkv::codegen
