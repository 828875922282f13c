// SPDX-License-Identifier: BSL-1.0
#pragma once
// Several documents packed into one sequence.
#include <qkv/core/formula.hpp>
#include <qkv/ops/logic.hpp>
#include <qkv/ops/rename.hpp>

namespace qkv {

// Computes: whether key and query belong to the same document: mask(scores, document<seq, kv>(id)).
//           Where the keys have numbers of their own, write id_of_query == id_of_key.
// Shapes:   id[.., query], as in<"id", i32, batch, seq> -> [.., query, key]
// Numerics: b8.
// Errors:   as rename: id lacks the query axis, or has that of the keys already.
template <an_axis auto Query, an_axis auto Key>
inline constexpr auto document =
    formula<"document(id)">([](traced auto id) { return id == rename<Query, Key>(id); });

}  // namespace qkv
