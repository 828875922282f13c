// SPDX-License-Identifier: BSL-1.0
#include "tests/kernels/guarded.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <qkv/core/half.hpp>

namespace qkv::testing {

guarded::guarded(dtype type, const std::vector<std::int64_t> &extent, layout how, guard where,
                 std::mt19937 &random)
    : type_(type), where_(where) {
  const int rank = static_cast<int>(extent.size());
  tensor_.dtype = static_cast<std::int32_t>(type);
  tensor_.rank = rank;
  std::vector<int> order(static_cast<std::size_t>(rank));  // outermost first
  std::iota(order.begin(), order.end(), 0);
  if (how == layout::permuted && rank > 2) std::shuffle(order.begin(), order.end() - 1, random);
  std::int64_t step = 1;
  for (int k = rank; k-- > 0;) {
    const int d = order[static_cast<std::size_t>(k)];
    tensor_.extent[d] = extent[static_cast<std::size_t>(d)];
    tensor_.stride[d] = step;
    step *= std::max<std::int64_t>(1, tensor_.extent[d]);
    if (how != layout::dense && k + 1 == rank) step += 1 + static_cast<std::int64_t>(random() % 7);
  }
  std::int64_t last = 0;
  for (int d = 0; d < rank; ++d)
    last += (std::max<std::int64_t>(1, tensor_.extent[d]) - 1) * tensor_.stride[d];
  const auto bytes = static_cast<std::size_t>((last + 1) * size_of(type));
  memory_.emplace(bytes, where, 1);
  tensor_.data = memory_->data();
}

template <class F>
void guarded::each(F f) const {
  std::int64_t n = 1;
  for (int d = 0; d < tensor_.rank; ++d) n *= tensor_.extent[d];
  std::vector<std::int64_t> at(static_cast<std::size_t>(tensor_.rank), 0);
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t offset = 0;
    for (int d = 0; d < tensor_.rank; ++d)
      offset += at[static_cast<std::size_t>(d)] * tensor_.stride[d];
    f(static_cast<std::size_t>(k), memory_->data() + offset * size_of(type_));
    for (int d = tensor_.rank; d-- > 0;) {
      if (++at[static_cast<std::size_t>(d)] < tensor_.extent[d]) break;
      at[static_cast<std::size_t>(d)] = 0;
    }
  }
}

std::size_t guarded::size() const {
  std::size_t n = 1;
  for (int d = 0; d < tensor_.rank; ++d) n *= static_cast<std::size_t>(tensor_.extent[d]);
  return n;
}

namespace {

template <class T>
void put(unsigned char *p, T x) {
  std::memcpy(p, &x, sizeof x);
}
template <class T>
T get(const unsigned char *p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

}  // namespace

void guarded::write(const std::vector<double> &row_major) {
  each([&](std::size_t k, unsigned char *p) {
    const double x = row_major[k];
    const auto narrow = static_cast<float>(x);
    if (type_ == f64) put(p, x);
    if (type_ == f32) put(p, narrow);
    if (type_ == bf16) put(p, to_bf16(narrow));
    if (type_ == f16) put(p, to_f16(narrow));
    if (type_ == i32) put(p, static_cast<std::int32_t>(x));
    if (type_ == b8) put(p, static_cast<std::uint8_t>(x != 0));
  });
}

std::vector<double> guarded::read() const {
  std::vector<double> values(size());
  each([&](std::size_t k, const unsigned char *p) {
    if (type_ == f64) values[k] = get<double>(p);
    if (type_ == f32) values[k] = get<float>(p);
    if (type_ == bf16) values[k] = from_bf16(get<std::uint16_t>(p));
    if (type_ == f16) values[k] = from_f16(get<std::uint16_t>(p));
    if (type_ == i32) values[k] = get<std::int32_t>(p);
    if (type_ == b8) values[k] = get<std::uint8_t>(p);
  });
  return values;
}

bool guarded::untouched_between() const {
  const unsigned char *begin = memory_->data();
  std::vector<bool> element(memory_->bytes(), false);
  each([&](std::size_t, const unsigned char *p) {
    std::fill_n(element.begin() + (p - begin), size_of(type_), true);
  });
  for (std::size_t k = 0; k < element.size(); ++k)
    if (!element[k] && begin[k] != memory_->pattern(k)) return false;
  return memory_->surroundings_untouched();
}

}  // namespace qkv::testing
