// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/attention_tiles.hpp"

#include <algorithm>

#include "codegen/machines/machine.hpp"
#include "codegen/plan/block_copies.hpp"
#include "codegen/plan/reads_along.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

namespace {

std::vector<axis_id> rows_of(const attention_stage &s, const attention_tile &t) {
  return s.row == no_axis ? t.folded : with(t.folded, {s.row});
}

// Dimensions of the tile's Funcs; on a CPU, variables of the loops around a task.
indices positions(const context &c, const std::vector<axis_id> &axes, const attention_funcs &f) {
  indices at;
  for (axis_id a : axes) {
    const auto own = f.of_task.find(a);
    at[a] = own == f.of_task.end() ? Expr(c.var(a)) : own->second;
  }
  return at;
}

}  // namespace

attention_tiles::attention_tiles(context &c, const attention_stage &s, attention_funcs &f)
    : c_(c),
      p_(c.p),
      s_(s),
      f_(f),
      rows_(rows_of(s, f.tile)),
      outer_axes_(without(s.outer, f.tile.folded)),
      outer_(positions(c, outer_axes_, f)) {
  if (rows_.size() < 2 || f.tile.dealt_to_threads()) return;
  for (const auto &[a, position] : divided(f.v.i, f.v.T)) {
    Func of("row_of_" + p_.axes[a].name);
    of(f.v.i, f.v.T) = position;
    f.reads.row_positions.push_back(of);
    row_positions_.emplace(a, of);
  }
}

bool attention_tiles::is_row(axis_id a) const { return has(rows_, a); }

bool attention_tiles::has_row(node_id n) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](axis_id a) { return has(p_[n].shape, a); });
}

indices attention_tiles::row(const Expr &i, const Expr &T) const {
  if (row_positions_.empty()) return divided(i, T);
  indices at;
  for (const auto &[a, position] : row_positions_) at[a] = position(i, T);
  return at;
}

indices attention_tiles::divided(const Expr &i, const Expr &T) const {
  indices at;
  Expr rest = T * f_.tile.rows + i;
  for (std::size_t d = rows_.size(); d-- > 1;) {
    at[rows_[d]] = c_.within(rows_[d], rest % c_.extent(rows_[d]));
    rest = rest / c_.extent(rows_[d]);
  }
  if (!rows_.empty()) at[rows_[0]] = c_.within(rows_[0], rest);
  return at;
}

Expr attention_tiles::key(const Expr &j, const Expr &b) const {
  return c_.within(s_.key, b * f_.tile.keys + j);
}

indices attention_tiles::here() const {
  indices at = outer_;
  at.merge(row(f_.v.i, f_.v.tile));
  at[s_.key] = key(f_.v.j, f_.v.block);
  return at;
}

std::vector<Expr> attention_tiles::with_outer(std::vector<Expr> at) const {
  for (const Var &v : f_.v.outer) at.push_back(v);
  return at;
}

std::vector<Var> attention_tiles::outer_dimensions(node_id n) const {
  std::vector<Var> vars;
  for (std::size_t d = 0; d < f_.v.outer.size(); ++d)
    if (has(p_[n].shape, outer_axes_[outer_axes_.size() - 1 - d])) vars.push_back(f_.v.outer[d]);
  return vars;
}

std::vector<Expr> attention_tiles::in_tile(std::vector<Expr> at, const Expr &block,
                                           const Expr &tile) const {
  if (!f_.in_loops) at.push_back(block);
  if (!f_.is_only_tile()) at.push_back(tile);
  return with_outer(std::move(at));
}

std::vector<Expr> attention_tiles::in_tile(std::vector<Expr> at) const {
  return in_tile(std::move(at), f_.v.block, f_.v.tile);
}

std::vector<Expr> attention_tiles::in_block(std::vector<Expr> at) const {
  if (!f_.in_loops) at.push_back(f_.v.block);
  return with_outer(std::move(at));
}

std::vector<Expr> attention_tiles::pair(Expr i, Expr j) const {
  return in_tile({std::move(i), std::move(j)});
}

bool attention_tiles::in_place(node_id n, const indices &at) const {
  const auto same = [&](axis_id a, const Expr &here) {
    return Halide::Internal::equal(at.at(a), here);
  };
  const indices rows = row(f_.v.i, f_.v.tile);
  for (axis_id a : p_[n].shape) {
    if (auto it = rows.find(a); it != rows.end() && !same(a, it->second)) return false;
    if (a == s_.key && !same(a, key(f_.v.j, f_.v.block))) return false;
    if (auto it = outer_.find(a); it != outer_.end() && !same(a, it->second)) return false;
  }
  return true;
}

bool attention_tiles::reads_memory(node_id n) {
  if (reads_memory_.empty()) {
    for (node_id m = 0; m < static_cast<node_id>(p_.nodes.size()); ++m) {
      const op k = p_[m].kind;
      const bool is_data = k == op::input && !p_[m].is_position;
      bool reads = is_data || k == op::param || c_.is_stored(m);
      for (node_id operand : p_[m].in) reads = reads || reads_memory_[operand];
      reads_memory_.push_back(reads);
    }
  }
  return reads_memory_[n];
}

// Steps that vary along the rows and not along the keys are computed once per tile, rows in lanes.
std::optional<value> attention_tiles::row_tile(node_id n, const indices &at) {
  const node &x = p_[n];
  if (!has_row(n) || has(x.shape, s_.key) || x.type == b8 || !reads_memory(n) || !in_place(n, at))
    return std::nullopt;
  std::vector<axis_id> features;
  for (axis_id a : x.shape)
    if (!is_row(a) && !outer_.count(a)) features.push_back(a);
  auto it = row_tiles_.find(n);
  if (it == row_tiles_.end()) {
    Func f("rows_" + context::label(p_, n));
    std::vector<Var> vars = {f_.v.i};
    indices inside = outer_;
    inside.merge(divided(f_.v.i, f_.v.T));  // once a task, as the positions themselves
    for (std::size_t d = features.size(); d-- > 0;) {
      Var v = c_.var(features[d]);
      vars.push_back(v);
      inside[features[d]] = v;
    }
    vars.push_back(f_.v.T);
    for (const Var &v : f_.v.outer) vars.push_back(v);
    value v = expression(c_).at(n, inside);
    if (v.present.defined()) return std::nullopt;
    f(vars) = v.number;
    // A key may read the rows at its own position, or only up to it: what a task requires does not
    // depend on the block.
    if (f_.in_loops) c_.bound_whole(f, features, 1);
    f_.reads.row_tiles.push_back(f);
    if (!features.empty()) know_features(f, static_size(p_, features.back()));
    it = row_tiles_.emplace(n, f).first;
  }
  std::vector<Expr> args = {f_.v.i};
  for (std::size_t d = features.size(); d-- > 0;) args.push_back(at.at(features[d]));
  args.push_back(f_.v.tile);
  return value{it->second(with_outer(args)), {}};
}

void attention_tiles::know_features(const Func &rows, std::int64_t extent) {
  if (extent > 0) f_.reads.features[rows.name()] = static_cast<int>(extent);
}

Expr attention_tiles::bf16_at(const tensor_operand &x, const indices &at) const {
  Expr number;
  const auto read = [&](node_id n, const indices &i) -> std::optional<value> {
    if (n != x.memory) return std::nullopt;
    number = c_.read(n, i);
    return value{Halide::cast<float>(number), {}};
  };
  expression(c_, read).at(x.step, at);
  return number;
}

// Matrix tiles have a multiple of so many features: those that the operand has not are 0.
Expr attention_tiles::one_of_pair(const tensor_operand &x, axis_id feature, indices at) {
  const auto features = static_cast<int>(static_size(p_, feature));
  const Expr n = c_.var(feature) * 2 + f_.v.half;
  const bool is_padded = f_.tile.in_matrix_tiles && features % matrix_depth != 0;
  at[feature] = is_padded ? Halide::min(n, features - 1) : n;
  const Expr number = bf16_at(x, at);
  return is_padded ? select(n < features, number, Halide::cast(number.type(), 0)) : number;
}

Func attention_tiles::row_pairs(const tensor_operand &x, axis_id feature) {
  indices inside = outer_;
  inside.merge(divided(f_.v.i, f_.v.T));
  Func f("rows_" + context::label(p_, x.step));
  std::vector<Var> vars = {f_.v.half, f_.v.i, c_.var(feature), f_.v.T};
  vars.insert(vars.end(), f_.v.outer.begin(), f_.v.outer.end());
  f(vars) = one_of_pair(x, feature, inside);
  f_.reads.row_pairs.push_back(f);
  know_features(f, static_size(p_, feature) / 2);
  return f;
}

Func attention_tiles::key_pairs(const tensor_operand &x, axis_id feature) {
  indices inside = outer_;
  inside[s_.key] = key(f_.v.j, f_.v.block);
  Func f("keys_" + context::label(p_, x.step));
  std::vector<Var> vars = {f_.v.half, f_.v.j, c_.var(feature)};
  if (!f_.in_loops) vars.push_back(f_.v.b);
  vars.insert(vars.end(), f_.v.outer.begin(), f_.v.outer.end());
  f(vars) = one_of_pair(x, feature, inside);
  f_.reads.key_pairs.push_back(f);
  return f;
}

// A stored value per query and key (a bias, a mask) is read once per tile: rows go into lanes.
std::optional<value> attention_tiles::pair_tile(node_id n, const indices &at) {
  const node &x = p_[n];
  const bool stored = x.kind == op::input || x.kind == op::param || c_.is_stored(n);
  if (!stored || !has_row(n) || !has(x.shape, s_.key) || !in_place(n, at)) return std::nullopt;
  for (axis_id a : x.shape)
    if (!is_row(a) && a != s_.key && !outer_.count(a)) return std::nullopt;
  std::vector<Expr> all = pair(f_.v.i, f_.v.j);
  auto it = pair_tiles_.find(n);
  if (it == pair_tiles_.end()) {
    Func f(pair_tile_prefix + context::label(p_, n));
    // likely(): without masked loads, the loop up to the last key is split off; a gather ends it
    indices inside = at;
    inside[s_.key] = c_.within(s_.key, Halide::likely(f_.v.block * f_.tile.keys + f_.v.j));
    f(all) = c_.read(n, inside);
    const bool are_rows = rows_.size() == 1 && reads_of(c_.made, n, rows_[0]).side_by_side > 0;
    (are_rows ? f_.reads.pair_rows : f_.reads.pair_tiles).push_back(f);
    it = pair_tiles_.emplace(n, f).first;
  }
  const Func &f = it->second;
  return value{x.type == b8 ? f(all) != Halide::cast<std::uint8_t>(0) : f(all), {}};
}

// Steps that vary along the keys and not along the rows: inlined, or read once per block.
std::optional<value> attention_tiles::key_tile(node_id n, const indices &at) {
  const node &x = p_[n];
  if (!has(x.shape, s_.key) || has_row(n) || x.type == b8 || !reads_memory(n) || !in_place(n, at))
    return std::nullopt;
  auto it = key_tiles_.find(n);
  std::vector<Var> vars;
  std::vector<Expr> args;
  indices inside;
  for (axis_id a : x.shape)
    if (a != s_.key && !outer_.count(a)) {
      vars.insert(vars.begin(), c_.var(a));
      args.insert(args.begin(), at.at(a));
      inside[a] = vars.front();
    }
  std::vector<Var> own = {f_.v.j};
  if (!f_.in_loops) own.push_back(f_.v.b);
  const std::vector<Var> outer = outer_dimensions(n);
  own.insert(own.end(), outer.begin(), outer.end());
  vars.insert(vars.end(), own.begin(), own.end());
  args.insert(args.end(), own.begin(), own.end());
  inside[s_.key] = key(f_.v.j, f_.v.block);
  for (axis_id a : outer_axes_)
    if (has(x.shape, a)) inside[a] = outer_.at(a);
  if (it == key_tiles_.end()) {
    value v = expression(c_).at(n, inside);
    if (v.present.defined()) return std::nullopt;
    Func f("keys_" + context::label(p_, n));
    f(vars) = v.number;
    f_.reads.key_tiles.push_back(f);
    if (is_more_than_a_read(c_.made, n)) f_.reads.computed_keys.push_back(f);
    it = key_tiles_.emplace(n, f).first;
  }
  return value{it->second(args), {}};
}

}  // namespace qkv::codegen
