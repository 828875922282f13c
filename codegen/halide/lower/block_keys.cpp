// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/block_keys.hpp"

namespace qkv::codegen {

using Halide::Expr;

namespace {

// Of some tiles of few rows, each may lie at one position of the folded axes: it then has a part of
// the innermost axis alone, and a causal mask hides the last keys from the first tiles. Forms of a
// single tile, and those whose lanes hold keys, would only lose time to the divisions.
bool may_have_part_of_axis(const attention_setting &a) {
  const attention_tile &t = a.f.tile;
  return t.is_for_few_rows() && t.per_task > 1 && !t.keys_in_lanes();
}

row_range rows_of_tile(const attention_setting &a) {
  const Expr first = a.f.v.tile * a.f.tile.rows,
             last = Halide::min(first + a.f.tile.rows, a.rows) - 1;
  const std::vector<axis_id> &rows = a.tiles.rows();
  if (rows.size() == 1) return {{rows[0], {first, last}}};
  row_range seen;
  for (axis_id row : rows) seen[row] = {0, a.c.extent(row) - 1};
  if (rows.empty() || !may_have_part_of_axis(a)) return seen;
  // Loops end where Halide bounds the last row: a remainder or a choice would hide where that is.
  const Expr n = a.c.extent(rows.back()), begin = first / n * n;
  seen[rows.back()] = {select(last < begin + n, first - begin, 0),
                       Halide::min(last - begin, n - 1)};
  return seen;
}

key_range seen_by_tile(const attention_setting &a) {
  return visible_keys(a.c, a.s, rows_of_tile(a), a.outer);
}

}  // namespace

block_keys::block_keys(const attention_setting &a) : a_(a), visible_(seen_by_tile(a)) {
  const Expr first = a.f.v.block * a.f.tile.keys;
  limit_ = a.keys - first;
  if (visible_.to.defined()) limit_ = Halide::min(limit_, visible_.to - first);
  limit_ = Halide::min(limit_, a.f.tile.keys);
}

Halide::RDom block_keys::range(const std::string &name, bool unrolled) const {
  Halide::RDom range(0, a_.f.tile.keys, name);
  if (a_.on_threads()) return range;  // threads run in step: nothing to gain there
  limit(range, range.x, unrolled);
  return range;
}

void block_keys::limit(Halide::RDom &range, const Expr &key, bool unrolled) const {
  const Expr exists = key < limit_;
  range.where(unrolled ? Halide::likely(exists) : exists);
  if (visible_.is_chosen) range.where(a_.inside(key));
}

Halide::RDom block_keys::twos(const std::string &name, bool unrolled) const {
  Halide::RDom range({{0, 2}, {0, a_.f.tile.keys / 2}}, name);
  limit(range, range.y * 2, unrolled);
  return range;
}

Halide::RDom block_keys::chunks(const std::string &name, int keys) const {
  Halide::RDom range({{0, 2}, {0, keys / 2}, {0, a_.f.tile.keys / keys}}, name);
  limit(range, range.z * keys);
  return range;
}

Expr block_keys::trimmed_part(const Expr &part, int keys) const {
  return Halide::max(Halide::min(part, (limit_ - 1) / keys), 0);
}

Halide::RDom block_keys::vectors(const std::string &name) const {
  Halide::RDom range(0, a_.f.tile.keys / a_.f.tile.key_lanes, name);
  const Expr key = range.x * a_.f.tile.key_lanes;
  range.where(key < limit_);
  if (visible_.is_chosen) range.where(a_.inside(key));
  return range;
}

Expr block_keys::trimmed_vector(const Halide::RDom &range) const {
  const int lanes = a_.f.tile.key_lanes;
  return trimmed_part(range.x, lanes) * lanes;
}

Expr block_keys::trimmed(const Halide::RDom &range) const {
  return a_.on_threads() ? Expr(range.x) : trimmed(Expr(range.x));
}

Expr block_keys::trimmed(const Expr &key) const {
  return Halide::max(Halide::min(key, limit_ - 1), 0);
}

Expr block_keys::hides_some(const weighted_sum &sum) const {
  row_range all;
  for (axis_id a : a_.tiles.rows()) all[a] = {0, a_.c.extent(a) - 1};
  const Expr first = a_.f.v.block * a_.f.tile.keys;
  Expr some = Halide::Internal::const_false();
  for (const key_range &hidden : hidden_keys(a_.c, a_.s, sum, all, a_.outer)) {
    Expr here = Halide::Internal::const_true();
    if (hidden.from.defined()) here = here && first + a_.f.tile.keys > hidden.from;
    if (hidden.to.defined()) here = here && first < hidden.to;
    some = some || here;
  }
  return Halide::Internal::simplify(some);
}

}  // namespace qkv::codegen
