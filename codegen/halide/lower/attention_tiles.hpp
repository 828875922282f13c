// SPDX-License-Identifier: BSL-1.0
#pragma once
// The operands of an attention, tile by tile: query rows transposed into lanes, keys of a block,
// biases and masks per pair.
#include <map>
#include <optional>

#include "codegen/halide/lower/attention_funcs.hpp"
#include "codegen/halide/lower/expression.hpp"

namespace qkv::codegen {

class attention_tiles {
 public:
  // Adds each tile that is needed to the Funcs of the stage.
  attention_tiles(context &, const attention_stage &, attention_funcs &);

  // Rows and keys past the end repeat the last one: every address that is formed is valid.
  // Rows count along the folded axes and the stage's own, row-major.
  indices row(const Halide::Expr &i, const Halide::Expr &T) const;
  Halide::Expr key(const Halide::Expr &j, const Halide::Expr &b) const;
  // The position of the tile's own pair (i, j) along every axis.
  indices here() const;

  // Arguments of Funcs, innermost first: these, then the position of the tile or block, and those
  // along the outer axes, as far as they are dimensions.
  std::vector<Halide::Expr> with_outer(std::vector<Halide::Expr> at) const;
  std::vector<Halide::Expr> in_tile(std::vector<Halide::Expr> at) const;
  std::vector<Halide::Expr> in_tile(std::vector<Halide::Expr> at, const Halide::Expr &block,
                                    const Halide::Expr &tile) const;
  std::vector<Halide::Expr> in_block(std::vector<Halide::Expr> at) const;
  std::vector<Halide::Expr> pair(Halide::Expr i, Halide::Expr j) const;

  // The axes along which rows lie, outermost first; and all others of the result but its column.
  const std::vector<axis_id> &rows() const { return rows_; }
  const std::vector<axis_id> &outer() const { return outer_axes_; }
  bool has_row(node_id n) const;  // the step varies from row to row
  bool reads_memory(node_id);     // more than positions, or is made of what does

  const indices &position() const { return outer_; }
  // The dimensions of outer axes along which the step varies, innermost first. There are none where
  // tasks read their own position.
  std::vector<Halide::Var> outer_dimensions(node_id) const;

  // True if `at` is this tile's own place along the row, the key and the outer axes of the step.
  // Views may move it: rename<seq, kv> reads a step of the queries at the key.
  bool in_place(node_id, const indices &at) const;

  // Each returns the values that it can serve, at the tile's own place.
  std::optional<value> row_tile(node_id, const indices &);
  std::optional<value> key_tile(node_id, const indices &);
  std::optional<value> pair_tile(node_id, const indices &);

  // A number of bf16 that is read from memory, at a position.
  Halide::Expr bf16_at(const tensor_operand &, const indices &) const;
  // Those of the rows, two features at a time; and those of the keys, for matrix tiles.
  Halide::Func row_pairs(const tensor_operand &, axis_id feature);
  Halide::Func key_pairs(const tensor_operand &, axis_id feature);

 private:
  bool is_row(axis_id) const;
  indices divided(const Halide::Expr &i, const Halide::Expr &T) const;
  void know_features(const Halide::Func &rows, std::int64_t extent);
  Halide::Expr one_of_pair(const tensor_operand &, axis_id feature, indices);

  context &c_;
  const program &p_;
  const attention_stage &s_;
  attention_funcs &f_;
  const std::vector<axis_id> rows_, outer_axes_;
  const indices outer_;  // the position of the tile along them
  std::map<node_id, Halide::Func> row_tiles_, key_tiles_, pair_tiles_;
  // On a CPU: the divisions of rows along several axes, made once a task.
  std::map<axis_id, Halide::Func> row_positions_;
  std::vector<bool> reads_memory_;
};

}  // namespace qkv::codegen
