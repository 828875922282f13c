// SPDX-License-Identifier: BSL-1.0
#include "ring/join.hpp"

#include <algorithm>
#include <cmath>
#include <qkv/core/dtype.hpp>
#include <qkv/core/partial_sum.hpp>
#include <type_traits>

#include "memory/dense.hpp"

namespace qkv::ring {
namespace {

template <class T, class F>
void for_each(void *to, const void *from, std::size_t n, const F &joined) {
  T *a = static_cast<T *>(to);
  const T *b = static_cast<const T *>(from);
  for (std::size_t k = 0; k < n; ++k) a[k] = joined(a[k], b[k]);
}

template <class T>
T extreme(bool wants_larger, T a, T b) {
  if (a != a) return a;  // NaN if one is
  if (b != b) return b;
  return wants_larger ? std::max(a, b) : std::min(a, b);
}

template <class T>
T logsumexp(T a, T b) {
  const T most = extreme(true, a, b);
  if (most != most || std::isinf(most)) return most;
  return most + std::log(std::exp(a - most) + std::exp(b - most));
}

template <class T>
void join_as(core::joining how, void *to, const void *from, std::size_t n) {
  switch (how) {
    case core::joining::sum:
      if constexpr (std::is_integral_v<T>)  // wraps
        return for_each<std::make_unsigned_t<T>>(to, from, n, [](auto a, auto b) { return a + b; });
      else
        return for_each<T>(to, from, n, [](T a, T b) { return a + b; });
    case core::joining::most:
      return for_each<T>(to, from, n, [](T a, T b) { return extreme(true, a, b); });
    case core::joining::least:
      return for_each<T>(to, from, n, [](T a, T b) { return extreme(false, a, b); });
    case core::joining::logsumexp:
      if constexpr (!std::is_integral_v<T>)
        return for_each<T>(to, from, n, [](T a, T b) { return logsumexp(a, b); });
  }
}

}  // namespace

void join(std::string_view name, std::int32_t dtype, void *to, const void *from, std::size_t n) {
  const core::joining how = core::joining_of(name).value_or(core::joining::sum);
  if (dtype == QKV_F32) join_as<float>(how, to, from, n);
  if (dtype == QKV_F64) join_as<double>(how, to, from, n);
  if (dtype == QKV_I32) join_as<std::int32_t>(how, to, from, n);
}

void join(std::string_view name, const qkv_tensor &to, const qkv_tensor &from) {
  const std::size_t n =
      detail::dense_bytes(to) / static_cast<std::size_t>(size_of(static_cast<dtype>(to.dtype)));
  join(name, to.dtype, to.data, from.data, n);
}

}  // namespace qkv::ring
