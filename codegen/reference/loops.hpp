// SPDX-License-Identifier: BSL-1.0
#pragma once
// The loops of the interpreter over tensors: strides by axis, and loops over several tensors at
// once.
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

// Calls f(offsets in each of N tensors, number of positions, step in each tensor) for runs that
// together cover every position, outermost axis slowest. A run spans as many inner axes as every
// tensor passes through with one step.
template <std::size_t N, class F>
void walk_runs(const extents &extent, const std::array<extents, N> &stride, F f) {
  if (product(extent) == 0) return;
  extents length;
  std::array<extents, N> step;
  for (std::size_t d = 0; d < extent.size(); ++d) {
    if (extent[d] == 1) continue;
    bool even = !length.empty();
    for (std::size_t t = 0; t < N; ++t) even = even && step[t].back() == stride[t][d] * extent[d];
    if (even)
      length.back() *= extent[d];
    else
      length.push_back(extent[d]);
    for (std::size_t t = 0; t < N; ++t) {
      if (even) step[t].pop_back();
      step[t].push_back(stride[t][d]);
    }
  }
  std::array<std::int64_t, N> at{}, inner{};
  if (length.empty()) return f(at, std::int64_t{1}, inner);
  const std::size_t last = length.size() - 1;
  for (std::size_t t = 0; t < N; ++t) inner[t] = step[t][last];
  extents index(length.size(), 0);
  for (;;) {
    f(at, length[last], inner);
    std::size_t d = last;
    for (;;) {
      if (d == 0) return;
      --d;
      for (std::size_t t = 0; t < N; ++t) at[t] += step[t][d];
      if (++index[d] < length[d]) break;
      for (std::size_t t = 0; t < N; ++t) at[t] -= step[t][d] * length[d];
      index[d] = 0;
    }
  }
}

// Calls f(offset in each of N tensors) for every position, outermost axis slowest.
template <std::size_t N, class F>
void walk(const extents &extent, const std::array<extents, N> &stride, F f) {
  walk_runs<N>(extent, stride, [&](auto at, std::int64_t n, const auto &step) {
    for (std::int64_t k = 0; k < n; ++k) {
      f(at);
      for (std::size_t t = 0; t < N; ++t) at[t] += step[t];
    }
  });
}

// The offsets of every position, outermost axis slowest.
inline std::vector<std::int64_t> offsets(const extents &extent, const extents &stride) {
  std::vector<std::int64_t> list;
  list.reserve(static_cast<std::size_t>(product(extent)));
  walk<1>(extent, {stride}, [&](const auto &at) { list.push_back(at[0]); });
  return list;
}

// to[c] = f(x[c * steps[0]], y[c * steps[1]]), computed in U.
template <class U, class N, class F>
void compute_run(std::int64_t n, const N *x, const N *y, const std::array<std::int64_t, 3> &steps,
                 N *to, F f) {
  for (std::int64_t c = 0; c < n; ++c)
    to[c] = static_cast<N>(f(static_cast<U>(x[c * steps[0]]), static_cast<U>(y[c * steps[1]])));
}

}  // namespace qkv::codegen::detail
