// SPDX-License-Identifier: BSL-1.0
#include "memory/layout.hpp"

#include <algorithm>
#include <limits>

namespace qkv::detail {

bool empty(const qkv_tensor &t) {
  return std::any_of(t.extent, t.extent + t.rank, [](std::int64_t e) { return e == 0; });
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t p = 0;
  return __builtin_mul_overflow(a, b, &p) ? std::numeric_limits<std::int64_t>::max() : p;
}

std::int64_t widest_stride(std::int64_t extent) {
  return std::numeric_limits<std::int32_t>::max() / extent;
}

bool widen(std::int64_t &span, std::int64_t extent, std::int64_t stride) {
  std::int64_t reach = 0;
  return !__builtin_mul_overflow(extent - 1, stride, &reach) &&
         !__builtin_add_overflow(span, reach, &span);
}

std::int64_t span_of(const qkv_tensor &t) {
  std::int64_t span = 1;
  for (int d = 0; d < t.rank; ++d) {
    if (t.extent[d] == 0) return 0;
    if (t.extent[d] > 1) span += (t.extent[d] - 1) * t.stride[d];
  }
  return span;
}

}  // namespace qkv::detail
