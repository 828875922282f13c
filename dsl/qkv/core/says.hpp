// SPDX-License-Identifier: BSL-1.0
#pragma once
// For tests of specs:
//   static_assert(says<decltype(dot<d_k>(Q, K))>("dot<d_k>: both sides carry seq ..."));
#include <qkv/core/shape_error.hpp>

namespace qkv {
namespace detail {

template <class Error>
struct text_of {
  static constexpr text value{};
};
template <str... Why>
struct text_of<shape_error<Why...>> {
  static constexpr text value = [] {
    text t;
    bool goes_on = true;  // a word cut in two
    ((t << (goes_on ? "" : " ") << Why.view(), goes_on = Why.view().ends_with('~'), t.n -= goes_on),
     ...);
    return t;
  }();
};

}  // namespace detail

// True if a call is refused with exactly this text, its lines joined by one blank: the same on
// every compiler.
template <class Error>
constexpr bool says(core::sv text) {
  return !text.empty() && detail::text_of<Error>::value.view() == text;
}

// True if a call is refused at all.
template <class Result>
inline constexpr bool refused = !detail::text_of<Result>::value.empty();

}  // namespace qkv
