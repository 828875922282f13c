// SPDX-License-Identifier: BSL-1.0
#pragma once
// Blocks of keys that a mask made of data hides from a whole tile of rows: documents, positions
// that come with the call, masks of padding. They are skipped.
#include "codegen/halide/lower/attention_setting.hpp"

namespace qkv::codegen {

// True for a tile and a block of which some pair may count; undefined where no data decides that.
// Adds to `reads.extremes` what it is made of. Cost: each row and each key is read once more.
Halide::Expr may_see(attention_setting &, const Halide::Expr &tile, const Halide::Expr &block);

}  // namespace qkv::codegen
