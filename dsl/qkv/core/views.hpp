#pragma once
// What rename, split, merge and broadcast share: the same numbers with other axes.
#include <qkv/core/step.hpp>

namespace qkv::detail {

// The set with `to` where the first axis of `from` stood; the others of `from` are dropped.
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

// Marks survive with their axes replaced, and relations of queries to keys while their axes do.
template <class F>
constexpr marks view_of(const marks &of, F replaced) {
  marks m = of.over_axes(replaced);
  m.shifted = {};
  for (maybe_axis a : {m.query, m.key})
    if (a && !replaced(one_axis(a.at)).has(a.at)) m.query = m.key = {};
  for (maybe_axis a : {m.first, m.second})
    if (a && !replaced(one_axis(a.at)).has(a.at)) m.first = m.second = {};
  for (maybe_axis a : {m.placed.query, m.placed.key})
    if (a && !replaced(one_axis(a.at)).has(a.at)) m.placed = {};
  return m;
}

}  // namespace qkv::detail
