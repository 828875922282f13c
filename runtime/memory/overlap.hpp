// SPDX-License-Identifier: BSL-1.0
#pragma once
// Checks for memory that is used twice; private to the runtime.
#include <qkv/kernel.h>

namespace qkv::detail {

// The position of an axis along which elements may coincide, or -1. Exact for nested layouts (every
// stride at least the span of what lies inside it); others count as overlapping.
int overlaps_itself(const qkv_tensor &);

// True if two tensors of one address space may share an element. Exact for contiguous memory and
// for interleaved rows (Q and O as columns of one matrix do not overlap); other interleavings count
// as overlapping. Never misses a shared element.
bool overlap(const qkv_tensor &, const qkv_tensor &);

}  // namespace qkv::detail
