// SPDX-License-Identifier: BSL-1.0
#pragma once
// Where the elements of a tensor are: extents, strides and the span of both; private to the
// runtime.
#include <qkv/kernel.h>

#include <cstdint>

namespace qkv::detail {

bool empty(const qkv_tensor &);
std::int64_t span_of(const qkv_tensor &);  // elements from the first to the last, 0 when empty

// Halide's limit for a stride counts whole strides, the last one included.
std::int64_t widest_stride(std::int64_t extent);

// The largest number if the product does not fit 64 bits.
std::int64_t product(std::int64_t, std::int64_t);
// Adds the reach of one more axis to the span of a tensor; false where that does not fit 64 bits.
bool widen(std::int64_t &span, std::int64_t extent, std::int64_t stride);

}  // namespace qkv::detail
