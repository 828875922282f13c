// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sums over the tokens of two machines become one.
#include <qkv/kernel.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace qkv::ring {

// Adds elements of f32, f64 or i32 to those of other tokens, as the name of the sum says. Both are
// contiguous and of one size.
void join(std::string_view name, const qkv_tensor &to, const qkv_tensor &from);
// The same for a part of a sum: n elements of a qkv_dtype.
void join(std::string_view name, std::int32_t dtype, void *to, const void *from, std::size_t n);

}  // namespace qkv::ring
