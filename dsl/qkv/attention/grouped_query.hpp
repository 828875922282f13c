// SPDX-License-Identifier: BSL-1.0
#pragma once
// Groups of query heads that share a key head (Ainslie et al. 2023).
#include <qkv/attention/scaled_dot_product.hpp>
#include <qkv/core/formula.hpp>
#include <qkv/ops/merge.hpp>
#include <qkv/ops/split.hpp>

namespace qkv {
namespace detail {

// A mask that varies along the query heads, split into key heads and groups as the queries are.
template <an_axis auto Heads, an_axis auto KvHeads, an_axis auto Group, traced Keep>
constexpr auto of_groups(const Keep &keep) {
  if constexpr (of<Keep>.s.contains(core::axes_of<Heads>()))
    return split<Heads, KvHeads, Group>(keep);
  else
    return keep;
}

}  // namespace detail

// Computes: scaled_dot_product where query head h uses key head h / size(group), over the keys that
//           keep, if it is given, lets through.
// Shapes:   Q[.., heads, query, features], K[.., kv_heads, key, features],
//           V[.., kv_heads, key, values] -> [.., heads, query, values]; heads = kv_heads * group.
//           keep may vary along the heads.
//           With one key head, leave the axis out and call scaled_dot_product (multi-query
//           attention).
// Numerics: as scaled_dot_product.
// Errors:   as split: kv_heads that do not divide heads; K or V without them; as
//           scaled_dot_product.
template <an_axis auto Heads, an_axis auto KvHeads, an_axis auto Group, an_axis auto Features,
          an_axis auto Key>
inline constexpr auto grouped_query = formula<"grouped_query(query, key, value[, keep])">(
    [](traced auto query, traced auto key, traced auto value, traced auto... keep) {
      constexpr detail::rule::carries<"grouped_query"> shared{
          core::axes_of<Heads, KvHeads, Group>(), core::axes_of<KvHeads>()};
      auto keys = detail::expect<shared>(key);
      auto values = detail::expect<shared>(value);
      auto grouped = split<Heads, KvHeads, Group>(detail::after(query, keys, values));
      return merge<Heads, KvHeads, Group>(scaled_dot_product<Features, Key>(
          grouped, keys, values, detail::of_groups<Heads, KvHeads, Group>(keep)...));
    });

}  // namespace qkv
