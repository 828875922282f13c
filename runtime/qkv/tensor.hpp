// SPDX-License-Identifier: BSL-1.0
#pragma once
// Tensors over named axes: one that owns its memory, and views of memory of the caller's.
#include <qkv/kernel.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <qkv/core/message.hpp>
#include <qkv/core/shape_error.hpp>
#include <qkv/extents.hpp>
#include <qkv/memory.hpp>

namespace qkv {

namespace detail {

template <dtype T>
struct element;
template <>
struct element<f32> {
  using type = float;
};
template <>
struct element<f64> {
  using type = double;
};
template <>
struct element<i32> {
  using type = std::int32_t;
};
template <>
struct element<b8> {
  using type = std::uint8_t;
};  // 0 or 1
template <>
struct element<bf16> {
  using type = std::uint16_t;
};  // the bits
template <>
struct element<f16> {
  using type = std::uint16_t;
};  // the bits

}  // namespace detail

template <dtype T>
using element_t = typename detail::element<T>::type;

// The parameters between the angle brackets: an optional dtype, then axes, innermost last.
template <auto... Spec>
struct tensor_spec {
  static constexpr dtype type = core::dtype_of<Spec...>();
  static constexpr core::axes shape = core::axes_of<Spec...>();
  static constexpr int rank = shape.n;
  static constexpr int decided_at_call = [] {
    int n = 0;
    for (const core::axis_data *a : shape) n += a->size < 0;
    return n;
  }();
  using element = element_t<type>;

  // As many sizes as axes, or as axes that the call decides, in their order.
  static constexpr bool counts(std::size_t n) {
    return n == std::size_t(rank) || n == std::size_t(decided_at_call);
  }
};

namespace detail {

using dimensions = std::array<std::int64_t, QKV_MAX_RANK>;
struct exactly {};  // keeps constructors from dimensions apart from those from lists of sizes

template <class Spec, std::size_t N>
constexpr dimensions extents_from(const length (&sizes)[N]) {
  dimensions e{};
  std::size_t next = 0;
  for (int d = 0; d < Spec::rank; ++d) {
    const bool given = N == static_cast<std::size_t>(Spec::rank) || Spec::shape[d]->size < 0;
    e[static_cast<std::size_t>(d)] = given ? sizes[next++].n : Spec::shape[d]->size;
  }
  return e;
}

template <class Spec, class Extents>
constexpr dimensions extents_from(const Extents &sizes) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return dimensions{sizes.template get<Spec::shape.a[I]>()...};
  }(std::make_index_sequence<static_cast<std::size_t>(Spec::rank)>{});
}

template <class Spec>
constexpr dimensions known_extents() {
  dimensions e{};
  for (int d = 0; d < Spec::rank; ++d)
    e[static_cast<std::size_t>(d)] = std::max<std::int64_t>(0, Spec::shape[d]->size);
  return e;
}

constexpr dimensions dense_strides(const dimensions &extent, int rank) {
  dimensions s{};
  std::int64_t dense = 1;
  for (int d = rank; d-- > 0;) {
    s[static_cast<std::size_t>(d)] = dense;
    // Sizes that make no sense are left for the call to report.
    if (extent[static_cast<std::size_t>(d)] > 0 &&
        __builtin_mul_overflow(dense, extent[static_cast<std::size_t>(d)], &dense))
      dense = 0;
  }
  return s;
}

// The number of elements, or -1 when there can be no such tensor.
constexpr std::int64_t count(const dimensions &extent, int rank) {
  std::int64_t n = 1;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t e = extent[static_cast<std::size_t>(d)];
    if (e < 0 || __builtin_mul_overflow(n, e, &n)) return -1;
  }
  return n;
}

// Checks that a list has as many sizes as there are axes, or axes that the call decides.
template <class Spec, std::size_t N>
struct sizes_fit {
  static constexpr bool passes = Spec::counts(N);
  static constexpr text why() {
    axes open;
    for (const axis_data *a : Spec::shape)
      if (a->size < 0) open.add(a);
    message m;
    m.say("tensor: ", long{N}, N == 1 ? " size is given" : " sizes are given").say("it takes ");
    if (!open.empty()) m << long{open.n} << ", of " << open;
    if (open.n < Spec::rank)
      m << (open.empty() ? "" : "; or ") << long{Spec::rank} << ", of all axes";
    return m.show_shape("tensor", Spec::shape);
  }
};

// Checks that extents name every axis of a tensor whose size the call decides.
template <class Spec, class Extents>
struct extents_fit {
  static constexpr text why() {
    text t;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((t.empty() && !Extents::template has<Spec::shape.a[I]>
            ? void(t << "extents: no size for " << Spec::shape[I]->name)
            : void()),
       ...);
    }(std::make_index_sequence<static_cast<std::size_t>(Spec::rank)>{});
    return t;
  }
};

// Common to everything that has axes, extents and strides.
template <class Spec>
class shaped {
 public:
  static constexpr dtype type = Spec::type;
  static constexpr axes shape = Spec::shape;
  static constexpr int rank = Spec::rank;

  template <auto Axis>
  std::int64_t extent() const {
    return extent_[place<Axis>()];
  }
  template <auto Axis>
  std::int64_t stride() const {
    return stride_[place<Axis>()];
  }
  std::int64_t extent(int d) const { return extent_[static_cast<std::size_t>(d)]; }
  std::int64_t stride(int d) const { return stride_[static_cast<std::size_t>(d)]; }
  std::int64_t elements() const { return std::max<std::int64_t>(0, count(extent_, rank)); }

 protected:
  shaped(const dimensions &extent, const dimensions &stride) : extent_(extent), stride_(stride) {}

  qkv_tensor describe(const void *data, int device) const {
    qkv_tensor t{};
    t.data = const_cast<void *>(data);
    t.dtype = static_cast<std::int32_t>(type);
    t.rank = rank;
    t.device = device;
    std::copy(extent_.begin(), extent_.end(), t.extent);
    std::copy(stride_.begin(), stride_.end(), t.stride);
    return t;
  }

  template <class... Index>
  std::int64_t offset(Index... index) const {
    static_assert(sizeof...(Index) == static_cast<std::size_t>(rank), "one index for each axis");
    std::int64_t at = 0;
    std::size_t d = 0;
    ((at += static_cast<std::int64_t>(index) * stride_[d++]), ...);
    return at;
  }

  dimensions extent_{}, stride_{};

 private:
  template <auto Axis>
  static constexpr std::size_t place() {
    constexpr int at = [] {
      for (int d = 0; d < rank; ++d) {
        if (same_name(shape[d], data_of<Axis>)) return d;
      }
      return -1;
    }();
    static_assert(at >= 0, "the tensor has no such axis");
    return static_cast<std::size_t>(at);
  }
};

}  // namespace detail

// Memory of the caller's. Strides count elements; without them the memory is contiguous. Wrong
// sizes and strides are reported by the call, not here.
template <bool ReadOnly, auto... Spec>
class basic_view : public detail::shaped<tensor_spec<Spec...>> {
  using spec = tensor_spec<Spec...>;
  using base = detail::shaped<spec>;

 public:
  using element =
      std::conditional_t<ReadOnly, const typename spec::element, typename spec::element>;
  static constexpr bool writable = !ReadOnly, is_view = true;

  template <std::size_t N>
    requires(spec::counts(N))
  basic_view(element *data, const length (&extents)[N])
      : basic_view(detail::exactly{}, data, detail::extents_from<spec>(extents)) {}
#if defined(__clang__)
  template <std::size_t N, class Err = detail::refusal<detail::sizes_fit<spec, N>>>
  basic_view(element *, const length (&)[N]) = delete;
#else
  template <std::size_t N, detail::an_error Err = detail::refusal<detail::sizes_fit<spec, N>>>
  basic_view(element *, const length (&)[N], Err = {});
#endif
  template <std::size_t N>
    requires(spec::counts(N))
  basic_view(element *data, const length (&extents)[N], const length (&strides)[spec::rank])
      : basic_view(detail::exactly{}, data, detail::extents_from<spec>(extents)) {
    for (int d = 0; d < spec::rank; ++d) this->stride_[static_cast<std::size_t>(d)] = strides[d].n;
  }
  template <class... E>
    requires detail::passes<detail::extents_fit<spec, extents<E...>>>
  basic_view(element *data, const extents<E...> &sizes)
      : basic_view(detail::exactly{}, data, detail::extents_from<spec>(sizes)) {}
  explicit basic_view(element *data)
    requires(spec::decided_at_call == 0)
      : basic_view(detail::exactly{}, data, detail::known_extents<spec>()) {}
  basic_view(detail::exactly, element *data, const detail::dimensions &extent)
      : base(extent, detail::dense_strides(extent, spec::rank)), data_(data) {}
  basic_view(detail::exactly, element *data, const detail::dimensions &extent,
             const detail::dimensions &stride)
      : base(extent, stride), data_(data) {}
  basic_view(const basic_view<false, Spec...>
                 &other)  // NOLINT: reading what may be written is always right
    requires ReadOnly
      : base(other), data_(other.data()) {}

  element *data() const { return data_; }
  template <class... Index>
  element &operator()(Index... index) const {
    return data_[this->offset(index...)];
  }
  qkv_tensor descriptor() const { return this->describe(data_, QKV_HOST); }

 private:
  element *data_;
};

template <auto... Spec>
using tensor_view = basic_view<false, Spec...>;
template <auto... Spec>
using const_tensor_view = basic_view<true, Spec...>;

// Owns contiguous memory, 64-byte aligned and zero at first. Copies are deep. Without memory, or
// for an impossible size, data() is null and the call returns an error.
template <auto... Spec>
class tensor : public detail::shaped<tensor_spec<Spec...>> {
  using spec = tensor_spec<Spec...>;
  using base = detail::shaped<spec>;

 public:
  using element = typename spec::element;
  static constexpr bool writable = true, is_view = false;

  tensor()
      : tensor(detail::exactly{}, detail::known_extents<spec>()) {
  }  // axes that the call decides are empty
  template <std::size_t N>
    requires(spec::counts(N))
  explicit tensor(const length (&extents)[N])
      : tensor(detail::exactly{}, detail::extents_from<spec>(extents)) {}
#if defined(__clang__)
  template <std::size_t N, class Err = detail::refusal<detail::sizes_fit<spec, N>>>
  explicit tensor(const length (&)[N]) = delete;
#else
  template <std::size_t N, detail::an_error Err = detail::refusal<detail::sizes_fit<spec, N>>>
  explicit tensor(const length (&)[N], Err = {});
#endif
  template <class... E>
    requires detail::passes<detail::extents_fit<spec, extents<E...>>>
  explicit tensor(const extents<E...> &sizes)
      : tensor(detail::exactly{}, detail::extents_from<spec>(sizes)) {}
#if defined(__clang__)
  template <class... E, class Err = detail::refusal<detail::extents_fit<spec, extents<E...>>>>
  explicit tensor(const extents<E...> &) = delete;
#else
  template <class... E,
            detail::an_error Err = detail::refusal<detail::extents_fit<spec, extents<E...>>>>
  explicit tensor(const extents<E...> &, Err = {});
#endif
  tensor(detail::exactly, const detail::dimensions &extent)
      : base(extent, detail::dense_strides(extent, spec::rank)),
        data_(allocate(detail::count(extent, spec::rank))) {}
  tensor(const tensor &other) : tensor(detail::exactly{}, other.extent_) {
    if (data_ && other.data_) std::memcpy(data_.get(), other.data(), bytes(this->elements()));
  }
  tensor(tensor &&) noexcept = default;
  tensor &operator=(tensor other) noexcept {
    this->extent_ = other.extent_;
    this->stride_ = other.stride_;
    data_ = std::move(other.data_);
    return *this;
  }

  element *data() { return data_.get(); }
  const element *data() const { return data_.get(); }
  element *begin() { return data(); }
  element *end() { return data() + (data_ ? this->elements() : 0); }
  const element *begin() const { return data(); }
  const element *end() const { return data() + (data_ ? this->elements() : 0); }
  void fill(element value) { std::fill(begin(), end(), value); }

  template <class... Index>
  element &operator()(Index... index) {
    return data_[this->offset(index...)];
  }
  template <class... Index>
  const element &operator()(Index... index) const {
    return data_[this->offset(index...)];
  }

  qkv_tensor descriptor() const { return this->describe(data_.get(), QKV_HOST); }
  tensor_view<Spec...> view() { return {detail::exactly{}, data(), this->extent_}; }
  const_tensor_view<Spec...> view() const { return {detail::exactly{}, data(), this->extent_}; }

 private:
  struct release {
    void operator()(element *p) const { std::free(p); }
  };
  static constexpr std::size_t bytes(std::int64_t n) {
    return static_cast<std::size_t>(n) * sizeof(element);
  }
  static element *allocate(std::int64_t n) {
    if (n < 0 || n > std::int64_t{1} << 40) return nullptr;
    const std::size_t size =
        (bytes(n) + 127) / 64 * 64;  // never none, and readable for a line beyond the end
    auto *p = static_cast<element *>(detail::new_memory(size));
    if (p) std::memset(p, 0, size);
    return p;
  }

  std::unique_ptr<element[], release> data_;
};

namespace detail {

template <class T>
concept some_tensor = requires(const T &t) {
  { T::type } -> std::convertible_to<dtype>;
  { T::shape } -> std::convertible_to<axes>;
  { T::writable } -> std::convertible_to<bool>;
  { T::is_view } -> std::convertible_to<bool>;  // const says nothing about what it refers to
  { t.descriptor() } -> std::same_as<qkv_tensor>;
};

}  // namespace detail

namespace detail {

// True if every axis has the size of its counterpart, as far as the spec knows.
constexpr bool may_be(const axes &from, const axes &to) {
  for (int d = 0; d < to.n; ++d) {
    if (to[d]->size >= 0 && from[d]->size >= 0 && to[d]->size != from[d]->size) return false;
  }
  return true;
}

}  // namespace detail

// The same memory under other names of axes: view_as<batch, heads, kv, d_k>(Q). Sizes known to the
// spec must agree; the dtype stays.
template <auto... Axis, detail::some_tensor T>
auto view_as(T &t) {
  constexpr core::axes to = core::axes_of<Axis...>();
  static_assert(to.n == T::rank, "view_as: as many axes as the tensor has");
  static_assert(detail::may_be(T::shape, to), "view_as: an axis has another size in the spec");
  const qkv_tensor d = t.descriptor();
  detail::dimensions extent{}, stride{};
  std::copy(d.extent, d.extent + T::rank, extent.begin());
  std::copy(d.stride, d.stride + T::rank, stride.begin());
  constexpr bool read_only = std::is_const_v<std::remove_pointer_t<decltype(t.data())>>;
  return basic_view<read_only, T::type, Axis...>(detail::exactly{}, t.data(), extent, stride);
}

}  // namespace qkv
