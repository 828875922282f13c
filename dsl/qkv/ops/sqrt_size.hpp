// SPDX-License-Identifier: BSL-1.0
#pragma once
// sqrt of the size of an axis, the scale of dot products, which remembers the axis. Also of a
// number.
#include <limits>
#include <qkv/ops/index.hpp>

namespace qkv {
namespace detail {

constexpr double root_of_size(long n) {  // Newton from above: exact for squares
  if (n < 0) return std::numeric_limits<double>::quiet_NaN();
  if (n == 0) return 0;
  double x = static_cast<double>(n);
  for (double next = 0.5 * (x + 1); next < x; next = 0.5 * (x + static_cast<double>(n) / x))
    x = next;
  return x;
}

constexpr marks scale_of(const axis_data *ax) {
  marks m;
  m.scale.root = ax;
  return m;
}

}  // namespace detail

// Computes: the square root of the size of the axis.
// Shapes:   a scalar
// Numerics: f32; a number when the size is static.
// Errors:   none here; a divisor must name an axis that the dot product contracted, or one still
//           present.
template <an_axis Ax>
constexpr auto sqrt(Ax) {
  constexpr auto name = detail::axis_label<core::op::sqrt, &Ax::v>;
  constexpr core::marks m = detail::scale_of(&Ax::v);
  if constexpr (Ax::v.size >= 0) {
    return detail::index_expr_with<core::index_facts<name, core::axes{}, m>::v>(
        {detail::number_node(detail::root_of_size(Ax::v.size), f32)});
  } else {
    core::node converted{.kind = core::op::cast, .a = 0}, root{.kind = core::op::sqrt, .a = 1};
    return detail::index_expr_with<core::index_facts<name, core::axes{}, m>::v>(
        {detail::axis_node(core::op::size, &Ax::v, {}), converted, root});
  }
}

// Computes: the square root of a whole number: dot<d_k>(Q, K) / sqrt(64).
// Shapes:   a number
// Numerics: double, exact for squares; NaN for negative numbers.
// Errors:   none.
constexpr double sqrt(std::integral auto n) { return detail::root_of_size(static_cast<long>(n)); }

}  // namespace qkv
