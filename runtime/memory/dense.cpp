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

void copy_dense(const qkv_tensor &t, void *to) {
  if (empty(t)) return;
  const auto bytes = static_cast<std::size_t>(size_of(static_cast<dtype>(t.dtype)));
  const int last = t.rank - 1;
  const std::size_t row = (t.rank ? static_cast<std::size_t>(t.extent[last]) : 1) * bytes;
  std::array<std::int64_t, QKV_MAX_RANK> at{};
  auto *out = static_cast<char *>(to);
  while (true) {
    std::int64_t offset = 0;
    for (int d = 0; d < last; ++d) offset += at[d] * t.stride[d];
    std::memcpy(out, static_cast<const char *>(t.data) + offset * static_cast<std::int64_t>(bytes),
                row);
    out += row;
    int d = last - 1;
    while (d >= 0 && ++at[d] == t.extent[d]) at[d--] = 0;
    if (d < 0) return;
  }
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
