// SPDX-License-Identifier: BSL-1.0
#include "files/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <qkv/core/dtype.hpp>
#include <qkv/core/half.hpp>
#include <qkv/memory.hpp>

namespace qkv::detail {
namespace {

template <class T>
T load(const void *data, std::int64_t i) {
  T x;
  std::memcpy(&x, static_cast<const char *>(data) + i * static_cast<std::int64_t>(sizeof(T)),
              sizeof(T));
  return x;
}
template <class T>
void store(void *data, std::int64_t i, T x) {
  std::memcpy(static_cast<char *>(data) + i * static_cast<std::int64_t>(sizeof(T)), &x, sizeof(T));
}

npy_type stored_as(int dtype) {
  constexpr npy_type types[] = {npy_type::f32, npy_type::u16, npy_type::f16,
                                npy_type::f64, npy_type::i32, npy_type::b8};
  return types[dtype];
}

}  // namespace

value::value(int dtype, std::span<const std::int64_t> shape) {
  t_.dtype = dtype;
  t_.rank = static_cast<std::int32_t>(shape.size());
  std::int64_t dense = 1;
  for (int d = t_.rank; d-- > 0;) {
    t_.extent[d] = shape[static_cast<std::size_t>(d)];
    t_.stride[d] = dense;
    dense *= std::max<std::int64_t>(1, t_.extent[d]);
  }
  const std::size_t size = (bytes() + 127) / 64 * 64;
  memory_.reset(detail::new_memory(size));
  if (!memory_) throw std::bad_alloc();
  std::memset(memory_.get(), 0, size);
  t_.data = memory_.get();
}

std::int64_t value::elements() const {
  std::int64_t n = 1;
  for (int d = 0; d < t_.rank; ++d) n *= t_.extent[d];
  return n;
}

std::size_t value::bytes() const {
  return static_cast<std::size_t>(elements()) *
         static_cast<std::size_t>(size_of(static_cast<dtype>(t_.dtype)));
}

double value::get(std::int64_t i) const {
  switch (static_cast<dtype>(t_.dtype)) {
    case dtype::f32:
      return load<float>(t_.data, i);
    case dtype::bf16:
      return from_bf16(load<std::uint16_t>(t_.data, i));
    case dtype::f64:
      return load<double>(t_.data, i);
    case dtype::i32:
      return load<std::int32_t>(t_.data, i);
    case dtype::b8:
      return load<std::uint8_t>(t_.data, i) != 0;
    case dtype::f16:
      return from_f16(load<std::uint16_t>(t_.data, i));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void value::set(std::int64_t i, double x) {
  switch (static_cast<dtype>(t_.dtype)) {
    case dtype::f32:
      return store(t_.data, i, static_cast<float>(x));
    case dtype::bf16:
      return store(t_.data, i, to_bf16(static_cast<float>(x)));
    case dtype::f64:
      return store(t_.data, i, x);
    case dtype::i32:
      return store(t_.data, i, std::isnan(x) ? std::int32_t{-1} : static_cast<std::int32_t>(x));
    case dtype::b8:
      return store(t_.data, i, static_cast<std::uint8_t>(x != 0));
    case dtype::f16:
      return store(t_.data, i, to_f16(static_cast<float>(x)));
  }
}

tool::array value::numbers() const {
  tool::array a;
  a.shape.assign(t_.extent, t_.extent + t_.rank);
  a.data.resize(static_cast<std::size_t>(elements()));
  for (std::int64_t i = 0; i < elements(); ++i) a.data[static_cast<std::size_t>(i)] = get(i);
  return a;
}

std::string value::from(const npy_array &file, int dtype, value &result) {
  const npy_type want = stored_as(dtype);
  const bool narrower = (file.type == npy_type::f64 && want == npy_type::f32) ||
                        (file.type == npy_type::i64 && want == npy_type::i32);
  if (file.type != want && !narrower)
    return fmt::format("holds {} but {} is needed", name_of(file.type), name_of(want));
  if (file.shape.size() > QKV_MAX_RANK) return fmt::format("has {} axes", file.shape.size());
  result = value(dtype, file.shape);
  if (!narrower) {
    std::memcpy(result.data(), file.data.data(), file.data.size());
    return {};
  }
  for (std::int64_t i = 0; i < file.elements(); ++i) {
    if (file.type == npy_type::f64) {
      result.set(i, load<double>(file.data.data(), i));
      continue;
    }
    const auto x = load<std::int64_t>(file.data.data(), i);
    if (x != static_cast<std::int32_t>(x))
      return fmt::format("holds {}, which does not fit i32", x);
    result.set(i, static_cast<double>(x));
  }
  return {};
}

npy_array value::to_npy() const {
  npy_array a;
  a.type = stored_as(t_.dtype);
  a.shape.assign(t_.extent, t_.extent + t_.rank);
  const auto *begin = static_cast<const std::byte *>(t_.data);
  a.data.assign(begin, begin + bytes());
  return a;
}

}  // namespace qkv::detail
