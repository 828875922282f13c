// SPDX-License-Identifier: BSL-1.0
#pragma once
// Contractions of what memory has for each pair.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/plan/stages.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {

// The number of positions along axes of known sizes; 0 if the call decides one of them.
inline std::int64_t static_extent(const program &p, const std::vector<axis_id> &axes) {
  std::int64_t n = 1;
  for (const axis_id a : axes) n *= std::max<std::int64_t>(static_size(p, a), 0);
  return n;
}

// True for a bias of each head that is made of features of each pair, which all heads share: the
// tiles of every head would read the features again, and these take no less memory than the bias.
inline bool reads_pairs_again(const program &p, const attention_stage &s, node_id dot) {
  const node &x = p[dot];
  return s.row != no_axis && std::any_of(x.in.begin(), x.in.end(), [&](node_id operand) {
           const std::vector<axis_id> &shape = p[operand].shape;
           const std::int64_t heads = static_extent(p, without(x.shape, shape));
           return has(shape, s.row) && has(shape, s.key) && heads > 1 &&
                  heads <= static_extent(p, without(shape, x.shape));
         });
}

}  // namespace qkv::codegen
