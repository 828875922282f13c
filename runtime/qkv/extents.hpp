// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sizes of axes by name: extents n(extent<batch>(2), extent<seq>(10));
// tensor<f32, batch, heads, seq, d_k> Q(n);
#include <boost/hana/at_key.hpp>
#include <boost/hana/contains.hpp>
#include <boost/hana/find.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/optional.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/type.hpp>
#include <concepts>
#include <cstdint>
#include <qkv/core/axes.hpp>
#include <utility>

namespace qkv {

namespace detail {

// An alias has the size of its axis, so both have the same key.
template <const axis_data *Root>
struct axis_key {};
template <const axis_data *Axis>
inline constexpr auto hana_key = boost::hana::type_c<axis_key<root_of(Axis)>>;

}  // namespace detail

// A number of elements; any integer type will do.
struct length {
  std::int64_t n;
  template <std::integral Integer>
  constexpr length(Integer i) : n(static_cast<std::int64_t>(i)) {}  // NOLINT: that is its purpose
};

// The size of one axis that the call decides.
template <auto Axis>
  requires detail::is_axis<Axis>
constexpr auto extent(length n) {
  static_assert(core::data_of<Axis>->size < 0,
                "extent<axis>: the size of this axis is part of the spec");
  return boost::hana::make_pair(detail::hana_key<core::data_of<Axis>>, n.n);
}

// Sizes of several axes, each once, in any order; one set serves all tensors of a call. An alias
// takes the size of the axis that it is another name of.
template <class... Extent>
class extents {
 public:
  constexpr explicit extents(Extent... e) : map_(boost::hana::make_map(e...)) {}

  template <const core::axis_data *Axis>
  static constexpr bool has =
      Axis->size >= 0 ||
      decltype(boost::hana::contains(
          std::declval<decltype(boost::hana::make_map(std::declval<Extent>()...))>(),
          detail::hana_key<Axis>))::value;

  template <const core::axis_data *Axis>
  constexpr std::int64_t get() const {
    if constexpr (Axis->size >= 0) {
      return Axis->size;
    } else {
      return map_[detail::hana_key<Axis>];
    }
  }

 private:
  decltype(boost::hana::make_map(std::declval<Extent>()...)) map_;
};

}  // namespace qkv
