// SPDX-License-Identifier: BSL-1.0
#pragma once
// An ordered set of axes, by name: a structural type, so that it can be a template argument. Lists
// in angle brackets become one.
#include <initializer_list>

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

  // The position of the axis of this name, or -1.
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
  // Each has an axis that the other lacks.
  constexpr bool crosses(const axes &o) const { return !contains(o) && !o.contains(*this); }
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
  // The axes that are not batch axes.
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

}  // namespace qkv::detail

namespace qkv::core {

// One entry in the angle brackets of in, out or tensor: an axis, a dtype, or by mistake something
// else.
struct entry {
  enum class kind : unsigned char { axis, type, stray };
  const axis_data *axis = nullptr;
  dtype type = f32;
  kind what = kind::stray;

  template <an_axis Ax>
  constexpr entry(const Ax &) : axis(&Ax::v), what(kind::axis) {}
  constexpr entry(dtype t) : type(t), what(kind::type) {}
  template <class T>
  constexpr entry(const T &) {}
};

// The whole list: the axes in their order, and at most one dtype.
struct entries {
  axes shape{};
  dtype type = f32;
  maybe_axis twice{};  // the first axis that occurs twice
  bool stray = false;  // an entry is neither an axis nor a dtype, or is a second dtype

  constexpr entries(std::initializer_list<entry> list) {
    bool has_type = false;
    for (const entry &e : list) {
      if (e.what == entry::kind::stray) stray = true;
      if (e.what == entry::kind::type) {
        stray = stray || has_type;
        has_type = true;
        type = e.type;
      }
      if (e.what != entry::kind::axis) continue;
      if (!twice && shape.has(e.axis)) twice = e.axis;
      shape.add(e.axis);
    }
  }
};

template <auto... A>
consteval axes axes_of() {
  return entries({A...}).shape;
}
template <auto... A>
consteval dtype dtype_of() {
  return entries({A...}).type;
}

}  // namespace qkv::core
