// SPDX-License-Identifier: BSL-1.0
#pragma once
// Shared by rename, split, merge and broadcast: the same numbers with other axes.
#include <qkv/core/step.hpp>

namespace qkv::detail {

// The set with `to` in place of the first axis of `from`; the others of `from` are dropped.
constexpr axes replace(const axes &s, const axes &from, const axes &to) {
  axes r;
  bool placed = false;
  for (const axis_data *x : s) {
    if (!from.has(x)) {
      r.add(x);
    } else if (!placed) {
      r.add(to);
      placed = true;
    }
  }
  return r;
}

// Puts the axis that takes the place of a, if that is one.
template <class F>
constexpr bool is_replaced(const axis_data *&a, F replaced) {
  const axes s = replaced(one_axis(a));
  if (s.n == 1) a = s[0];
  return s.n == 1;
}

// Marks survive with their axes replaced, and relations of queries to keys while their axes do.
template <class F>
constexpr marks view_of(const marks &of, F replaced) {
  marks m = of.over_axes(replaced);
  if (m.done.by <= treatment::deviation) m.done = {};
  for (const axis_data **a : {&m.done.along, &m.done.from})
    if (*a && !is_replaced(*a, replaced)) m.done = {};
  for (maybe_axis a : {m.sides.query, m.sides.key})
    if (a && !replaced(one_axis(a.at)).has(a.at)) m.sides.query = m.sides.key = {};
  for (maybe_axis a : {m.split.first, m.split.second})
    if (a && !replaced(one_axis(a.at)).has(a.at)) m.split.first = m.split.second = {};
  for (maybe_axis a : {m.sides.placed.query, m.sides.placed.key})
    if (a && !replaced(one_axis(a.at)).has(a.at)) m.sides.placed = {};
  return m;
}

}  // namespace qkv::detail
