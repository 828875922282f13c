// SPDX-License-Identifier: BSL-1.0
#pragma once
// Pairs of a row and a key that masks hide, and the number that stands for them in memory.
#include "codegen/halide/lower/attention_setting.hpp"
#include "codegen/halide/lower/expression.hpp"

namespace qkv::codegen {

class hidden_pairs {
 public:
  explicit hidden_pairs(const attention_setting &);

  // True if masks of the scores depend on products of the tile.
  bool depend_on_products() const { return by_products_; }
  // True if masks hide pairs of this sum, or of the weights.
  bool in(const weighted_sum &) const;
  bool in_weights() const;
  // Threads also take keys past the end, which repeat the last one with weight 0: infinite factors
  // of theirs must be 0, too, where no marks keep them out.
  bool run_past_the_end(const weighted_sum &) const;
  // True if the pair at this key of the block is not masked: of this sum, or of the weights. It is
  // undefined if no mask applies. Products of the tile are a variable.
  Halide::Expr pair_counts(const weighted_sum &, const Halide::Expr &key) const;
  Halide::Expr weight_counts(const Halide::Expr &key) const;
  static bool uses_product(const Halide::Expr &count);

  // A pair of -0 marks a product that does not count, and no other pair is -0: on GPUs, where
  // testing every product is free, and where masks depend on products of the tile.
  bool have_marks(bool gaps) const { return gaps && (a_.on_threads() || by_products_); }
  Halide::Expr is_mark(const Halide::Expr &pair) const;
  Halide::Expr marked(const Halide::Expr &pair, const Halide::Expr &count) const;

 private:
  value without_products(node_id, const Halide::Expr &key) const;
  Halide::Expr bits_of(const Halide::Expr &) const;
  Halide::Expr minus_zero() const;

  const attention_setting &a_;
  bool by_products_ = false;
};

}  // namespace qkv::codegen
