#pragma once
// An ordered set of axes, by name. A structural type, so that a shape can stand in the type of an
// expression.
#include <qkv/core/axis.hpp>
#include <qkv/core/dtype.hpp>

namespace qkv::core {

inline constexpr int max_axes = 8;  // of one tensor

struct axes {
  const axis_data
      *a[max_axes + 1]{};  // one more than allowed, so that a rule can see that there are too many
  int n = 0;

  constexpr const axis_data *const *begin() const { return a; }
  constexpr const axis_data *const *end() const { return a + n; }
  constexpr const axis_data *operator[](int i) const { return a[i]; }
  constexpr bool empty() const { return n == 0; }
  constexpr bool too_many() const { return n > max_axes; }

  // Where the axis of this name stands, or -1.
  constexpr int position(const axis_data *x) const {
    for (int i = 0; i < n; ++i)
      if (a[i]->key == x->key) return i;
    return -1;
  }
  constexpr bool has(const axis_data *x) const { return position(x) >= 0; }
  // The axis of this name, which must be there.
  constexpr const axis_data *find(const axis_data *x) const { return a[position(x)]; }
  constexpr bool contains(const axes &o) const {
    for (int i = 0; i < o.n; ++i)
      if (!has(o.a[i])) return false;
    return true;
  }
  constexpr bool same_set(const axes &o) const { return n == o.n && contains(o); }

  constexpr axes &add(const axis_data *x) {
    if (n <= max_axes && !has(x)) a[n++] = x;
    return *this;
  }
  constexpr axes &add(const axes &o) {
    for (int i = 0; i < o.n; ++i) add(o.a[i]);
    return *this;
  }

  constexpr axes with(const axes &o) const { return axes(*this).add(o); }
  constexpr axes without(const axes &o) const {
    axes r;
    for (int i = 0; i < n; ++i)
      if (!o.has(a[i])) r.a[r.n++] = a[i];
    return r;
  }
  constexpr axes common(const axes &o) const {
    axes r;
    for (int i = 0; i < n; ++i)
      if (o.has(a[i])) r.a[r.n++] = a[i];
    return r;
  }
  // Those that are no batch axes.
  constexpr axes non_batch() const {
    axes r;
    for (int i = 0; i < n; ++i)
      if (!a[i]->batch) r.a[r.n++] = a[i];
    return r;
  }
  constexpr axes batch() const {
    axes r;
    for (int i = 0; i < n; ++i)
      if (a[i]->batch) r.a[r.n++] = a[i];
    return r;
  }

  // The same axes in the same order.
  constexpr bool operator==(const axes &o) const {
    for (int i = 0; i < n; ++i)
      if (o.n != n || a[i]->key != o.a[i]->key) return false;
    return n == o.n;
  }
};

constexpr axes one_axis(const axis_data *x) { return axes{}.add(x); }

}  // namespace qkv::core

namespace qkv::detail {

using namespace core;

template <auto A>
inline constexpr bool is_axis = an_axis<decltype(A)>;
template <auto A>
inline constexpr bool is_dtype = std::same_as<std::remove_cvref_t<decltype(A)>, dtype>;

template <auto A>
constexpr void add_axis(axes &s) {
  if constexpr (is_axis<A>) s.add(data_of<A>);
}
template <auto A>
constexpr void take_dtype(dtype &t) {
  if constexpr (is_dtype<A>) t = A;
}

// At most one dtype, then axes.
template <auto... A>
inline constexpr bool only_axes =
    ((is_axis<A> || is_dtype<A>) && ...) && (0 + ... + int{is_dtype<A>}) <= 1;

}  // namespace qkv::detail

namespace qkv::core {

// The first axis that stands there twice.
template <auto... A>
consteval maybe_axis repeated_axis() {
  maybe_axis twice;
  axes seen;
  (
      [&] {
        if constexpr (detail::is_axis<A>) {
          if (!twice && seen.has(data_of<A>)) twice = data_of<A>;
          seen.add(data_of<A>);
        }
      }(),
      ...);
  return twice;
}

// What stands between the angle brackets of in, out, tensor: an optional dtype, then axes.
template <auto... A>
consteval axes axes_of() {
  axes s;
  (detail::add_axis<A>(s), ...);
  return s;
}
template <auto... A>
consteval dtype dtype_of() {
  dtype t = f32;
  (detail::take_dtype<A>(t), ...);
  return t;
}

}  // namespace qkv::core
