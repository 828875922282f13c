// SPDX-License-Identifier: BSL-1.0
#include "memory/dense.hpp"

#include <array>
#include <cstring>
#include <qkv/core/dtype.hpp>

#include "memory/layout.hpp"

namespace qkv::detail {

std::size_t dense_bytes(const qkv_tensor &t) {
  std::int64_t bytes = size_of(static_cast<dtype>(t.dtype));
  for (int d = 0; d < t.rank; ++d) bytes *= t.extent[d];
  return static_cast<std::size_t>(bytes);
}

qkv_tensor dense(const qkv_tensor &t, void *data) {
  qkv_tensor result = t;
  result.data = data;
  std::int64_t stride = 1;
  for (int d = t.rank - 1; d >= 0; --d) {
    result.stride[d] = stride;
    stride *= t.extent[d];
  }
  return result;
}

namespace {

// Calls `visit` with the first element of each row, in order, and the number of its elements.
template <class Visit>
void for_each_row(const qkv_tensor &t, Visit visit) {
  if (empty(t)) return;
  const std::int64_t width = size_of(static_cast<dtype>(t.dtype));
  const int last = t.rank - 1;
  const auto row = static_cast<std::size_t>(t.rank ? t.extent[last] : 1);
  std::array<std::int64_t, QKV_MAX_RANK> at{};
  while (true) {
    std::int64_t offset = 0;
    for (int d = 0; d < last; ++d) offset += at[d] * t.stride[d];
    visit(static_cast<char *>(t.data) + offset * width, row);
    int d = last - 1;
    while (d >= 0 && ++at[d] == t.extent[d]) at[d--] = 0;
    if (d < 0) return;
  }
}

template <class T>
void add_rows(const T *from, const qkv_tensor &t) {
  for_each_row(t, [&](void *to, std::size_t n) {
    T *sum = static_cast<T *>(to);
    for (std::size_t i = 0; i < n; ++i) sum[i] += from[i];
    from += n;
  });
}

}  // namespace

void copy_dense(const qkv_tensor &t, void *to) {
  auto *out = static_cast<char *>(to);
  const auto width = static_cast<std::size_t>(size_of(static_cast<dtype>(t.dtype)));
  for_each_row(t, [&](const void *from, std::size_t n) {
    std::memcpy(out, from, n * width);
    out += n * width;
  });
}

void copy_apart(const void *from, const qkv_tensor &t) {
  auto *in = static_cast<const char *>(from);
  const auto width = static_cast<std::size_t>(size_of(static_cast<dtype>(t.dtype)));
  for_each_row(t, [&](void *to, std::size_t n) {
    std::memcpy(to, in, n * width);
    in += n * width;
  });
}

bool is_fragmented(const qkv_tensor &t) {
  constexpr std::int64_t long_run = 1 << 16;  // bytes: their transfer takes longer than the call
  if (empty(t)) return false;
  std::array<bool, QKV_MAX_RANK> in_run{};
  std::int64_t run = 1;  // elements
  for (int d = t.rank - 1; d >= 0; --d) {
    if (in_run[d] || t.extent[d] == 1 || t.stride[d] != run) continue;
    in_run[d] = true;
    run *= t.extent[d];
    d = t.rank;  // the next one may be any of them
  }
  bool has_gaps = false;
  std::int64_t elements = 1;
  for (int d = 0; d < t.rank; ++d) {
    elements = product(elements, t.extent[d]);
    has_gaps |= t.extent[d] > 1 && !in_run[d];
  }
  if (elements > span_of(t)) return false;  // some are repeated: a copy would be larger
  return has_gaps && run * size_of(static_cast<dtype>(t.dtype)) < long_run;
}

void add_dense(const void *from, const qkv_tensor &t) {
  if (t.dtype == QKV_F64)
    add_rows(static_cast<const double *>(from), t);
  else
    add_rows(static_cast<const float *>(from), t);
}

status upload(const options &how, const void *contiguous, qkv_tensor &t, device_memory &there) {
  const int width = size_of(static_cast<dtype>(t.dtype));
  const auto elements = static_cast<std::int64_t>(dense_bytes(t)) / width;
  if (status s = device_memory::make(how, width, elements, there); !s) return s;
  if (status s = there.copy_from(contiguous); !s) return s;
  t = dense(t, there.handle());
  t.device = static_cast<std::int32_t>(how.on);
  return {};
}

}  // namespace qkv::detail
