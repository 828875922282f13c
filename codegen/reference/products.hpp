// SPDX-License-Identifier: BSL-1.0
#pragma once
// The inner loops of a contraction, where most of the interpreter's time goes.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

#include "codegen/reference/tensor_value.hpp"

namespace qkv::codegen::detail {

// Adds x * y, rounded before or not. The product of two float32 is exact in double; rounding a sum
// in double to float32 almost always equals rounding the exact sum.
template <bool Fused, class T, class N>
void add_product(T &sum, N x, N y) {
  if constexpr (!Fused)
    sum += static_cast<T>(x * y);
  else if constexpr (std::is_same_v<T, float>)
    sum = static_cast<float>(static_cast<double>(sum) + x * y);
  else
    sum = std::fma(x, y, sum);
}

// sums[c] += x[c * x_step] * y[c * y_step]
template <bool Fused, class T, class N>
void add_products(std::int64_t n, const N *x, std::int64_t x_step, const N *y, std::int64_t y_step,
                  T *sums) {
  const N first = x[0], second = y[0];
  if (x_step == 0 && y_step == 1)
    for (std::int64_t c = 0; c < n; ++c) add_product<Fused>(sums[c], first, y[c]);
  else if (x_step == 1 && y_step == 0)
    for (std::int64_t c = 0; c < n; ++c) add_product<Fused>(sums[c], x[c], second);
  else
    for (std::int64_t c = 0; c < n; ++c) add_product<Fused>(sums[c], x[c * x_step], y[c * y_step]);
}

// sums[c] = the sum over terms [i, j] of x[i + c * x_step] * y[j + c * y_step]. Four sums at a time
// stay in registers, because a long double takes several instructions to load or store.
inline void add_terms(std::int64_t n, const std::vector<std::array<std::int64_t, 2>> &terms,
                      const long double *x, std::int64_t x_step, const long double *y,
                      std::int64_t y_step, long double *sums) {
  for (std::int64_t c = 0; c < n; c += 4) {
    const std::int64_t from_x = c * x_step, from_y = c * y_step;
    long double a = 0, b = 0, d = 0, e = 0;
    for (const auto &[term_x, term_y] : terms) {
      const std::int64_t i = from_x + term_x, j = from_y + term_y;
      a += x[i] * y[j];
      if (n - c > 1) b += x[i + x_step] * y[j + y_step];
      if (n - c > 2) d += x[i + 2 * x_step] * y[j + 2 * y_step];
      if (n - c > 3) e += x[i + 3 * x_step] * y[j + 3 * y_step];
    }
    const long double all[] = {a, b, d, e};
    std::copy(all, all + std::min<std::int64_t>(4, n - c), sums + c);
  }
}

// The same value with `last` as its last axis, if it has that axis: elements along it are then next
// to each other. The result is x itself, or `moved` if the order of the axes changes.
template <class T>
const tensor_value<T> *with_last(const tensor_value<T> *given, axis_id last,
                                 tensor_value<T> &moved) {
  const tensor_value<T> &x = *given;
  const auto at = std::find(x.axes.begin(), x.axes.end(), last);
  if (at == x.axes.end() || at == x.axes.end() - 1) return given;
  moved.axes = x.axes;
  moved.axes.erase(moved.axes.begin() + (at - x.axes.begin()));
  moved.axes.push_back(last);
  const extents strides = strides_along(x, moved.axes);
  for (axis_id a : moved.axes)
    moved.extent.push_back(x.extent[static_cast<std::size_t>(
        std::find(x.axes.begin(), x.axes.end(), a) - x.axes.begin())]);
  moved.data.reserve(x.data.size());
  moved.states.reserve(x.states.size());
  walk<1>(moved.extent, {strides}, [&](const auto &from) {
    moved.data.push_back(x.data[from[0]]);
    if (!x.states.empty()) moved.states.push_back(x.states[from[0]]);
  });
  return &moved;
}

}  // namespace qkv::codegen::detail
