#pragma once
// How the interpreter walks tensors: strides by axis, and loops over several tensors at once.
#include <array>
#include <cstdint>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen::detail {

using extents = std::vector<std::int64_t>;

inline std::int64_t product(const extents &e) {
  std::int64_t n = 1;
  for (std::int64_t x : e) n *= x;
  return n;
}

// Strides of a dense row-major tensor.
inline extents dense_strides(const extents &e) {
  extents s(e.size(), 1);
  for (std::size_t d = e.size(); d-- > 1;) s[d - 1] = s[d] * e[d];
  return s;
}

// Calls f(offset in each of N tensors) for every position, outermost axis slowest.
template <std::size_t N, class F>
void walk(const extents &extent, const std::array<extents, N> &stride, F f) {
  if (product(extent) == 0) return;
  std::array<std::int64_t, N> at{};
  if (extent.empty()) return f(at);
  const std::size_t last = extent.size() - 1;
  extents index(extent.size(), 0);
  for (;;) {
    std::array<std::int64_t, N> inner = at;
    for (std::int64_t k = 0; k < extent[last]; ++k) {
      f(inner);
      for (std::size_t t = 0; t < N; ++t) inner[t] += stride[t][last];
    }
    std::size_t d = last;
    for (;;) {
      if (d == 0) return;
      --d;
      for (std::size_t t = 0; t < N; ++t) at[t] += stride[t][d];
      if (++index[d] < extent[d]) break;
      for (std::size_t t = 0; t < N; ++t) at[t] -= stride[t][d] * extent[d];
      index[d] = 0;
    }
  }
}

// The offsets of every position, outermost axis slowest.
inline std::vector<std::int64_t> offsets(const extents &extent, const extents &stride) {
  std::vector<std::int64_t> list;
  list.reserve(static_cast<std::size_t>(product(extent)));
  walk<1>(extent, {stride}, [&](const auto &at) { list.push_back(at[0]); });
  return list;
}

}  // namespace qkv::codegen::detail
