// SPDX-License-Identifier: BSL-1.0
// take, put and concat in the interpreter.
#include <algorithm>

#include "codegen/reference/steps.hpp"

namespace qkv::codegen::detail {

template <class T>
tensor_value<T> steps<T>::taken(const node &n, const values &in) const {
  const value &table = *in[0], &position = *in[1];
  value v = blank(n.shape);
  const std::int64_t step = strides_along(table, n.over)[0], last = size_[n.over[0]] - 1;
  // An empty table gives absent elements if elements of it may be absent, else 0.
  if (last < 0) {
    if (masked_[n.in[0]] || masked_[n.in[1]]) v.set_states(absent);
    return v;
  }
  if (!table.states.empty() || !position.states.empty()) v.set_states(present);
  // where both have an axis of that name, it is the position's
  extents along = strides_along(table, n.shape);
  for (std::size_t d = 0; d < n.shape.size(); ++d)
    if (n.shape[d] == n.over[0]) along[d] = 0;
  std::int64_t to = 0;
  walk<2>(v.extent, {along, strides_along(position, n.shape)}, [&](const auto &at) {
    const auto wanted = static_cast<std::int64_t>(position.data[at[1]]);
    const std::int64_t from = at[0] + step * std::clamp<std::int64_t>(wanted, 0, last);
    v.data[to] = table.data[from];
    if (!v.states.empty()) v.states[to] = position.has(at[1]) ? table.at(from) : absent;
    ++to;
  });
  return v;
}

template <class T>
tensor_value<T> steps<T>::joined(const node &n, const values &in) const {
  value v = blank(n.shape);
  if (!in[0]->states.empty() || !in[1]->states.empty()) v.set_states(present);
  const std::int64_t whole = strides_along(v, {n.over[0]})[0];
  std::int64_t first = 0;
  for (const std::size_t k : {0, 1}) {
    const value &x = *in[k];
    const axis_id part = k == 0 ? n.over[1] : n.over.back();
    // If the other operand also has an axis of this name, the part runs only along the whole.
    extents along = strides_along(x, n.shape), extent = v.extent;
    for (std::size_t d = 0; d < n.shape.size(); ++d) {
      if (n.shape[d] == part) along[d] = 0;
      if (n.shape[d] != n.over[0]) continue;
      along[d] = strides_along(x, {part})[0];
      extent[d] = size_[part];
    }
    walk<2>(extent, {along, dense_strides(v.extent)}, [&](const auto &at) {
      v.data[at[1] + first * whole] = x.data[at[0]];
      if (!v.states.empty()) v.states[at[1] + first * whole] = x.at(at[0]);
    });
    first += size_[part];
  }
  return v;
}

// Sums over every axis of the operands but those of the result. Positions are clamped as take's
// are.
template <class T>
tensor_value<T> steps<T>::put(const node &n, const values &in) const {
  const value &x = *in[0], &position = *in[1];
  value v = blank(n.shape);
  const std::int64_t step = strides_along(v, n.over)[0], last = size_[n.over[0]] - 1;
  if (last < 0) return v;
  const std::vector<axis_id> all = with(x.axes, position.axes);
  walk<3>(extents_of(all),
          {strides_along(x, all), strides_along(position, all), strides_along(v, all)},
          [&](const auto &at) {
            if (x.at(at[0]) == absent || !position.has(at[1])) return;
            const auto wanted = static_cast<std::int64_t>(position.data[at[1]]);
            auto &sum = v.data[at[2] + step * std::clamp<std::int64_t>(wanted, 0, last)];
            sum = static_cast<T>(sum) + static_cast<T>(x.data[at[0]]);
          });
  return v;
}

#define QKV_FOR(T)                                                              \
  template tensor_value<T> steps<T>::taken(const node &, const values &) const; \
  template tensor_value<T> steps<T>::put(const node &, const values &) const;   \
  template tensor_value<T> steps<T>::joined(const node &, const values &) const;
QKV_FOR(long double)
QKV_FOR(double)
QKV_FOR(float)
#undef QKV_FOR

}  // namespace qkv::codegen::detail
