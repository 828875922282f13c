// SPDX-License-Identifier: BSL-1.0
#pragma once
// Contractions of what memory has for each pair.
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "codegen/plan/stages.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {

// The number of positions along axes of known sizes; 0 if the call decides one of them.
inline std::int64_t static_extent(const program &p, const std::vector<axis_id> &axes) {
  std::int64_t n = 1;
  for (const axis_id a : axes) n *= std::max<std::int64_t>(static_size(p, a), 0);
  return n;
}

// The bytes that memory has for each number of an operand along these axes: those of an argument,
// or of a stage's result; 0 if it is made of what has fewer of the axes, as the sum of the features
// of a row and of a key is.
inline int bytes_in_memory(const program &p, node_id operand, const std::vector<axis_id> &axes) {
  int bytes = 0;
  std::set<node_id> seen;
  const auto look = [&](node_id n) {
    if (!contains(p[n].shape, axes)) return false;
    const bool is_stored = is_argument(p[n]) || !is_inlinable(p, n);
    if (is_stored) bytes = std::max(bytes, size_of(p[n].type));
    return !is_stored;
  };
  walk(p, operand, look, seen);
  return bytes;
}

// True for a bias of each head that is made of features of each pair, which all heads share: the
// tiles of every head would read the features again, and these take no less memory than the bias.
inline bool reads_pairs_again(const program &p, const attention_stage &s, node_id dot) {
  const node &x = p[dot];
  return s.row != no_axis && std::any_of(x.in.begin(), x.in.end(), [&](node_id operand) {
           const std::vector<axis_id> &shape = p[operand].shape;
           const std::int64_t heads = static_extent(p, without(x.shape, shape));
           if (heads <= 1 || !contains(shape, {s.row, s.key})) return false;
           const std::vector<axis_id> own = without(shape, x.shape);
           return heads * size_of(x.type) <=
                  static_extent(p, own) * bytes_in_memory(p, operand, with(own, {s.row, s.key}));
         });
}

}  // namespace qkv::codegen
