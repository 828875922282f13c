// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tests whether two programs mean the same: their interpretations in double precision agree, up to
// the effect of another order of the same sums. An element may be off by 1e-11 of the largest in
// its row, and by what rounding in double may explain: 1e-5 of the errors of float loops there,
// twice the reference's noise in double, and a hundred times what a relative change of the
// arguments by 1e-13 makes of it. It may be anything where it depends on the kind of a contraction
// that is not finite.
#include <string>

#include "codegen/reference/interpreter.hpp"

namespace qkv::fuzz {

// The results of a program, computed in double; also for f64, whose stages store what they compute.
codegen::arrays in_double(const codegen::program &, const codegen::arrays &arguments,
                          const codegen::size_map &);

// The original program, interpreted once, with which others are compared.
class meaning {
 public:
  meaning(const codegen::program &, const codegen::arrays &arguments, const codegen::size_map &);

  // Empty if `other` holds these results, else one line: the element, its value and the expected
  // one.
  std::string differs(const codegen::arrays &other) const;
  const codegen::arrays &arguments() const { return arguments_; }
  const codegen::size_map &sizes() const { return sizes_; }

 private:
  bool is_stable(const std::string &output, std::size_t k, double off) const;
  bool is_same_in_any_order(const std::string &output, std::size_t k) const;
  double noise_at(const std::string &output, std::size_t k) const;

  const codegen::program &p_;
  codegen::arrays arguments_;
  codegen::size_map sizes_;
  codegen::arrays exact_, sequence_, eights_;
  mutable codegen::arrays noise_;  // computed at first use
};

}  // namespace qkv::fuzz
