// SPDX-License-Identifier: BSL-1.0
#include "memory/overlap.hpp"

#include <array>
#include <cstdint>
#include <qkv/core/dtype.hpp>

#include "memory/layout.hpp"

namespace qkv::detail {
namespace {

std::int64_t bytes_of(const qkv_tensor &t) { return size_of(static_cast<dtype>(t.dtype)); }

// Taken modulo `period` bytes, the elements of a tensor lie in [from, from + length) of a circle;
// length < 0 when they do not stay together.
struct arc {
  std::uint64_t from;
  std::int64_t length;
};

arc modulo(const qkv_tensor &t, std::int64_t period) {
  std::int64_t length = bytes_of(t);
  for (int d = 0; d < t.rank; ++d) {
    if (t.extent[d] <= 1) continue;
    const std::int64_t step = t.stride[d] * bytes_of(t);
    if (step % period != 0) length += (t.extent[d] - 1) * step;
  }
  return {reinterpret_cast<std::uintptr_t>(t.data) % static_cast<std::uint64_t>(period), length};
}

bool apart_modulo(const qkv_tensor &a, const qkv_tensor &b, std::int64_t period) {
  const arc x = modulo(a, period), y = modulo(b, period);
  if (x.length > period || y.length > period) return false;
  const auto p = static_cast<std::uint64_t>(period);
  const auto x_to_y = static_cast<std::int64_t>((y.from + p - x.from) % p);
  return x_to_y >= x.length && x_to_y + y.length <= period;
}

}  // namespace

int overlaps_itself(const qkv_tensor &t) {
  if (empty(t)) return -1;
  std::array<int, QKV_MAX_RANK> order{};  // axes by stride, smallest first
  int n = 0;
  for (int d = 0; d < t.rank; ++d) {
    if (t.extent[d] <= 1) continue;
    int at = n++;
    for (; at > 0 && t.stride[order[at - 1]] > t.stride[d]; --at) order[at] = order[at - 1];
    order[at] = d;
  }
  std::int64_t inside = 1;
  for (int i = 0; i < n; ++i) {
    const int d = order[i];
    if (t.stride[d] < inside) return d;
    inside += (t.extent[d] - 1) * t.stride[d];
  }
  return -1;
}

bool overlap(const qkv_tensor &a, const qkv_tensor &b) {
  if (empty(a) || empty(b)) return false;
  const auto from_a = reinterpret_cast<std::uintptr_t>(a.data),
             from_b = reinterpret_cast<std::uintptr_t>(b.data);
  const auto to_a = from_a + static_cast<std::uint64_t>(span_of(a) * bytes_of(a));
  const auto to_b = from_b + static_cast<std::uint64_t>(span_of(b) * bytes_of(b));
  if (to_a <= from_b || to_b <= from_a) return false;
  // Adjacent rows of both repeat with the stride of some axis.
  for (const qkv_tensor *t : {&a, &b}) {
    for (int d = 0; d < t->rank; ++d) {
      const std::int64_t period = t->extent[d] > 1 ? t->stride[d] * bytes_of(*t) : 0;
      if (period > 0 && apart_modulo(a, b, period)) return false;
    }
  }
  return true;
}

}  // namespace qkv::detail
