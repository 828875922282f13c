// SPDX-License-Identifier: BSL-1.0
#pragma once
// Numbers for scores that are not there.
#include "codegen/halide/lower/hidden_pairs.hpp"

namespace qkv::codegen {

// Removed scores differ from visible ones of -inf in kernels that need it. Scores and their maxima
// then have three levels: -inf if removed, the lowest finite number if visible and -inf, and above
// that if finite.
class score_levels {
 public:
  score_levels(const attention_setting &, const hidden_pairs &);

  // True if the weights are functions of scores less their maximum.
  bool less_maximum() const { return less_maximum_; }
  bool exist() const { return exist_; }
  Halide::Expr lowest() const;  // "nothing seen yet": -inf - -inf would be NaN
  Halide::Expr of(const Halide::Expr &visible) const;
  Halide::Expr nothing_seen() const;
  // Subtracted before exp(); both lower levels give 0.
  Halide::Expr shift_of(const Halide::Expr &maximum) const;

 private:
  Halide::Expr lowest_of_finite() const;

  const attention_setting &a_;
  const bool less_maximum_, exist_;
};

}  // namespace qkv::codegen
