// SPDX-License-Identifier: BSL-1.0
#pragma once
// The algorithm of an attention stage: tiles of rows x keys, a running state (o, l, m) per row,
// scores never stored.
//
//   s = Q K' (and pointwise steps, masks)      for one tile of rows and one block of keys
//   m = max_keys s;  p = exp(s - m);  l = sum_keys p;  o = p V
//   state <- merge(state, (o, l, m))           over the blocks of keys
//   out   = o / l                              and lse = m + log l
//
// Without a normaliser, p is any function of row and key, and the state holds o alone. A stage may
// have several o, each with its own p and V.
//
// There is one such form for each tile: the result of a call is that of the form for so many rows.
//
// Source of the streaming form: Milakov & Gimelshein 2018 (online softmax); Dao et al. 2022
// (FlashAttention).
#include "codegen/halide/lower/attention_funcs.hpp"

namespace qkv::codegen {

// One form for each tile: a call takes the first one that is for so many rows. Stores the stage's
// roots in the context.
std::vector<attention_funcs> lower_attention(context &, const attention_stage &,
                                             const std::vector<attention_tile> &);

}  // namespace qkv::codegen
