// SPDX-License-Identifier: BSL-1.0
#include "ring/local_tensor.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <qkv/core/dtype.hpp>

namespace qkv::ring {
namespace {

constexpr std::align_val_t alignment{64};

void set_dense(qkv_tensor &t) {
  std::int64_t stride = 1;
  for (int d = t.rank; d-- > 0;) {
    t.stride[d] = stride;
    stride *= std::max<std::int64_t>(t.extent[d], 1);
  }
}

// Calls row(offset of its first element, its number) for each row along the innermost axis.
template <class Row>
void for_rows(const qkv_tensor &t, const Row &row) {
  const std::int64_t inner = t.rank > 0 ? t.extent[t.rank - 1] : 1;
  const std::int64_t rows = inner > 0 ? elements(t) / inner : 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t rest = r, offset = 0;
    for (int d = t.rank - 1; d-- > 0;) {
      offset += rest % t.extent[d] * t.stride[d];
      rest /= t.extent[d];
    }
    row(offset, r);
  }
}

}  // namespace

std::vector<std::string> names_of_axes(const qkv_kernel &k, const qkv_argument &a) {
  std::vector<std::string> names;
  for (int d = 0; d < a.rank; ++d) names.emplace_back(k.axes[a.axes[d]].name);
  return names;
}

std::int64_t elements(const qkv_tensor &t) {
  std::int64_t n = 1;
  for (int d = 0; d < t.rank; ++d) n *= t.extent[d];
  return n;
}

std::size_t bytes(const qkv_tensor &t) {
  return static_cast<std::size_t>(elements(t)) * size_of(static_cast<dtype>(t.dtype));
}

local_tensor local_tensor::made(const qkv_kernel &k, const qkv_argument &a,
                                const std::vector<std::int64_t> &extents) {
  local_tensor x;
  x.axes = names_of_axes(k, a);
  x.t.dtype = a.dtype;
  x.t.rank = a.rank;
  std::copy(extents.begin(), extents.end(), x.t.extent);
  set_dense(x.t);
  const std::size_t n = std::max<std::size_t>(bytes(x.t), 1);
  x.memory = {static_cast<std::byte *>(::operator new(n, alignment)),
              [](std::byte *p) { ::operator delete(p, alignment); }};
  x.t.data = x.memory.get();
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
  if (some.data && elements(t) > 0)
    some.data = static_cast<std::byte *>(t.data) + first * t.stride[place] * size;
  some.extent[place] = n;
  return some;
}

void pack(std::byte *to, const qkv_tensor &from) {
  const std::size_t size = size_of(static_cast<dtype>(from.dtype));
  const std::size_t row =
      size * static_cast<std::size_t>(from.rank > 0 ? from.extent[from.rank - 1] : 1);
  for_rows(from, [&](std::int64_t offset, std::int64_t r) {
    std::memcpy(to + static_cast<std::size_t>(r) * row,
                static_cast<const std::byte *>(from.data) + static_cast<std::size_t>(offset) * size,
                row);
  });
}

qkv_tensor dense_like(const qkv_tensor &t, std::byte *memory) {
  qkv_tensor dense = t;
  dense.data = memory;
  set_dense(dense);
  return dense;
}

void fill(const qkv_tensor &t, double x) {
  const std::int64_t inner = t.rank > 0 ? t.extent[t.rank - 1] : 1;
  for_rows(t, [&](std::int64_t offset, std::int64_t) {
    if (t.dtype == QKV_F64)
      std::fill_n(static_cast<double *>(t.data) + offset, inner, x);
    else if (t.dtype == QKV_I32)
      std::fill_n(static_cast<std::int32_t *>(t.data) + offset, inner,
                  static_cast<std::int32_t>(x));
    else
      std::fill_n(static_cast<float *>(t.data) + offset, inner, static_cast<float>(x));
  });
}

}  // namespace qkv::ring
