// SPDX-License-Identifier: BSL-1.0
#pragma once
// The value of a step at every position, and which elements masks removed.
#include <cstdint>
#include <type_traits>
#include <vector>

#include "codegen/program/queries.hpp"
#include "codegen/reference/loops.hpp"

namespace qkv::codegen::detail {

// State of an element. Absent: removed by a mask. Empty weight: the 0 that softmax and normalize
// put for an absent score; it is present to every step, but products with it do not count, so that
// a NaN behind the mask does not spread.
enum state : unsigned char { absent = 0, present = 1, empty_weight = 2 };

template <class T>
struct tensor_value {
  // Whole numbers that a float cannot hold stay what they are.
  using number = std::conditional_t<std::is_same_v<T, float>, double, T>;

  std::vector<axis_id> axes;
  extents extent;
  std::vector<number> data;
  std::vector<unsigned char> states;  // one per element; none if every element is present

  void set_states(state all) { states.assign(data.size(), all); }

  state at(std::int64_t k) const {
    return states.empty() ? present : static_cast<state>(states[k]);
  }
  bool has(std::int64_t k) const { return at(k) != absent; }
};

// The stride of a value along each of `axes`; 0 if it lacks the axis.
template <class T>
extents strides_along(const tensor_value<T> &v, const std::vector<axis_id> &axes) {
  const extents dense = dense_strides(v.extent);
  extents s(axes.size(), 0);
  for (std::size_t d = 0; d < axes.size(); ++d)
    for (std::size_t k = 0; k < v.axes.size(); ++k)
      if (v.axes[k] == axes[d]) s[d] = dense[k];
  return s;
}

}  // namespace qkv::codegen::detail
