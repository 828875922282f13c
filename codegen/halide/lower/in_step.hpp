// SPDX-License-Identifier: BSL-1.0
#pragma once
// Rewrites for GPU threads that visit the keys of an attention in lockstep. Their tiles outlive a
// block of keys (hoisted storage), and Halide 21 allocates such a tile only where something reads
// it; it does not lower a load in that condition.
#include <Halide.h>

#include "codegen/halide/lower/key_range.hpp"

namespace qkv::codegen {

// A range that may be wider: without the part that depends on memory (lengths), and in a form that
// bounds inference does not solve for the tile, whose cells must keep constant places in registers.
key_range in_step(const key_range &);

// The same value with choices that depend on memory hidden from Halide. position: of the thread in
// the tile.
Halide::Expr in_step(const Halide::Expr &, const Halide::Expr &position);

}  // namespace qkv::codegen
