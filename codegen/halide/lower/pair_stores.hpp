// SPDX-License-Identifier: BSL-1.0
#pragma once
// Stores beside the computation of a value, which Halide has no form for: a Func is computed where
// its readers need it, and nothing reads what is stored here.
#include <Halide.h>

#include <map>
#include <string>
#include <vector>

namespace qkv::codegen {

// `value`; where it is computed, `number` is stored in `element`, a read of a Func that is computed
// before, or, unless it is the first there, added to it. `is_there`: the element exists.
Halide::Expr storing(const Halide::Expr &value, const Halide::Expr &number,
                     const Halide::Expr &element, const Halide::Expr &is_there,
                     const Halide::Expr &is_first);

// This lowering pass writes these stores.
//
//   g[k] = storing(value, number, r[i], is_there, is_first)
//     -> r[i] = is_first ? number : r[i] + number, if is_there;  g[k] = value
class stores_beside : public Halide::Internal::IRMutator {
 public:
  // The results of the pipeline: their memory has the alignment that callers give it.
  explicit stores_beside(const std::vector<Halide::Func> &results);

 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Store *op) override;

  std::map<std::string, Halide::Parameter> memory_;
};

}  // namespace qkv::codegen
