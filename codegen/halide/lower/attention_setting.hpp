// SPDX-License-Identifier: BSL-1.0
#pragma once
// The stage and the tile that all parts of an attention's lowering share, and forms of expressions
// that depend on them.
#include <string>

#include "codegen/halide/lower/attention_tiles.hpp"
#include "codegen/halide/lower/key_range.hpp"

namespace qkv::codegen {

class attention_setting {
 public:
  attention_setting(context &, const attention_stage &, const attention_tile &, attention_funcs &);

  context &c;
  const program &p;
  const attention_stage &s;
  attention_funcs &f;
  const Halide::Type type;  // of scores, weights and values
  attention_tiles tiles;
  const indices outer;  // the position of the tile along its outer axes
  const std::string name;
  const Halide::Expr rows, keys;  // of the call
  const bool less_maximum;
  bool marked_by_scores = false;  // masks of the scores depend on products of the tile

  bool on_threads() const { return f.tile.dealt_to_threads(); }
  Halide::Expr number(double) const;
  Halide::Expr lowest() const;  // "nothing seen yet": -inf - -inf would be NaN

  // Removed scores differ from visible ones of -inf in kernels that need it. Scores and their
  // maxima then have three levels: -inf if removed, the lowest finite number if visible and -inf,
  // and above that if finite.
  bool has_levels() const { return f.running.has_maximum && (marked_by_scores || less_maximum); }
  Halide::Expr level_of(const Halide::Expr &visible) const;
  Halide::Expr nothing_seen() const;
  // Subtracted before exp(); both lower levels give 0.
  Halide::Expr shift_of(const Halide::Expr &maximum) const;

  // Conditions on outer axes take no part in bounds inference: a tile has one position of each.
  Halide::Expr kept(const Halide::Expr &) const;
  // Values of the tile, with their conditions in the form that the machine requires.
  Halide::Expr chosen(const Halide::Expr &) const;
  // True if this key of the block exists; if this row of the tile does.
  Halide::Expr inside(const Halide::Expr &key) const;
  Halide::Expr is_row(const Halide::Expr &row) const;

  // The keys of a block that some row of the tile may see, as a range of a sum; and such a key as a
  // coordinate. where() trims the loops; the clamp, redundant in value, trims the bounds required
  // of the producers.
  void limit_keys();
  // `unrolled`: several at a time, without conditions but at the end.
  Halide::RDom keys_of_block(const std::string &name, bool unrolled = false) const;
  // Keeps a range to the keys of the block that some row may see.
  void limit(Halide::RDom &, const Halide::Expr &key, bool unrolled = false) const;
  // The same in whole vectors of keys: keys past the end are masked, and repeat the last one.
  Halide::RDom vectors_of_block(const std::string &name) const;
  Halide::Expr trimmed(const Halide::RDom &keys) const;
  Halide::Expr trimmed(const Halide::Expr &key) const;
  Halide::Expr trimmed_vector(const Halide::RDom &vectors) const;
  // The keys that the masks leave to some row of this tile.
  key_range visible() const;
  // False for a block of keys all of which this sum has for every row of the call.
  Halide::Expr hides_some(const weighted_sum &) const;

  // True if masks hide pairs of this sum, or of the weights.
  bool has_gaps(const weighted_sum &) const;
  bool has_gaps() const { return s.is_normalised() && c.has_gaps[s.scores]; }
  // Threads also take keys past the end, which repeat the last one with weight 0: infinite factors
  // of theirs must be 0, too, where no marks keep them out.
  bool runs_past_the_end(const weighted_sum &sum) const { return on_threads() && !has_gaps(sum); }
  // True if the pair at this key of the block is not masked: of this sum, or of the weights. It is
  // undefined if no mask applies. Products of the tile are a variable.
  Halide::Expr pair_counts(const weighted_sum &, const Halide::Expr &key) const;
  Halide::Expr weight_counts(const Halide::Expr &key) const;
  static bool uses_product(const Halide::Expr &count);

  // A pair of -0 marks a product that does not count, and no other pair is -0: on GPUs, where
  // testing every product is free, and where masks depend on products of the tile.
  bool has_marks(bool gaps) const { return gaps && (on_threads() || marked_by_scores); }
  Halide::Expr is_mark(const Halide::Expr &pair) const;
  Halide::Expr marked(const Halide::Expr &pair, const Halide::Expr &count) const;

 private:
  Halide::Expr taken() const;  // the rows of the call are as few as the tile is for
  Halide::Expr lowest_of_finite() const;
  Halide::Expr bits_of(const Halide::Expr &) const;
  Halide::Expr minus_zero() const;
  value without_products(node_id, const Halide::Expr &key) const;

  Halide::Expr limit_;
  bool limit_is_chosen_ = false;
};

}  // namespace qkv::codegen
