// SPDX-License-Identifier: BSL-1.0
#pragma once
// The stage and the tile that all parts of an attention's lowering share.
#include <string>

#include "codegen/halide/lower/attention_tiles.hpp"

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

  bool on_threads() const { return f.tile.dealt_to_threads(); }
  Halide::Expr number(double) const;
  // Conditions on outer axes take no part in bounds inference: a tile has one position of each.
  Halide::Expr kept(const Halide::Expr &) const;
  // Values of the tile, with their conditions in the form that the machine requires.
  Halide::Expr chosen(const Halide::Expr &) const;
  // True if this key of the block exists; if this row of the tile does.
  Halide::Expr inside(const Halide::Expr &key) const;
  Halide::Expr is_row(const Halide::Expr &row) const;

 private:
  Halide::Expr taken() const;  // the rows of the call are as few as the tile is for, and the keys
};

}  // namespace qkv::codegen
