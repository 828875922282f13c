// SPDX-License-Identifier: BSL-1.0
#include "ring/local_tensor.hpp"

#include <algorithm>
#include <new>
#include <qkv/core/dtype.hpp>

#include "memory/dense.hpp"
#include "memory/layout.hpp"

namespace qkv::ring {
std::shared_ptr<std::byte> borrowed(workspace &from, std::size_t n) {
  void *memory = from.take(std::max<std::size_t>(n, 1));
  if (!memory) throw std::bad_alloc();
  return {static_cast<std::byte *>(memory), [&from](std::byte *p) { from.give_back(p); }};
}

std::vector<std::string> names_of_axes(const qkv_kernel &k, const qkv_argument &a) {
  std::vector<std::string> names;
  for (int d = 0; d < a.rank; ++d) names.emplace_back(k.axes[a.axes[d]].name);
  return names;
}

local_tensor local_tensor::made(workspace &from, const qkv_kernel &k, const qkv_argument &a,
                                const std::vector<std::int64_t> &extents) {
  local_tensor x;
  x.axes = names_of_axes(k, a);
  x.t.dtype = a.dtype;
  x.t.rank = a.rank;
  std::copy(extents.begin(), extents.end(), x.t.extent);
  x.memory = borrowed(from, detail::dense_bytes(x.t));
  x.t = detail::dense(x.t, x.memory.get());
  return x;
}

int local_tensor::place(std::string_view axis) const {
  const auto at = std::find(axes.begin(), axes.end(), axis);
  return at == axes.end() ? -1 : static_cast<int>(at - axes.begin());
}

qkv_tensor local_tensor::part(int place, std::int64_t first, std::int64_t n) const {
  qkv_tensor some = t;
  if (place < 0) return some;
  const auto size = static_cast<std::int64_t>(size_of(static_cast<dtype>(t.dtype)));
  if (some.data && !detail::empty(t))
    some.data = static_cast<std::byte *>(t.data) + first * t.stride[place] * size;
  some.extent[place] = n;
  return some;
}

void fill(const local_tensor &x, double value) {
  const std::size_t bytes = detail::dense_bytes(x.t);
  if (x.t.dtype == QKV_F64)
    std::fill_n(static_cast<double *>(x.t.data), bytes / sizeof(double), value);
  else if (x.t.dtype == QKV_I32)
    std::fill_n(static_cast<std::int32_t *>(x.t.data), bytes / sizeof(std::int32_t),
                static_cast<std::int32_t>(value));
  else
    std::fill_n(static_cast<float *>(x.t.data), bytes / sizeof(float), static_cast<float>(value));
}

}  // namespace qkv::ring
