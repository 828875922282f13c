// SPDX-License-Identifier: BSL-1.0
#pragma once
// The result of a scan whose step has an error, which the compiler has reported: it adds no second
// one.
#include <exception>
#include <type_traits>

namespace qkv::detail {

struct wrong_step : std::exception {
  const char *what() const noexcept override {
    return "scan: the step takes other operands than the state and one for each x";
  }
};
struct already_wrong {
  template <class Anything>
  operator Anything() const {
    throw wrong_step();
  }
};
// Steps that are computed with it are wrong already, too.
template <class L, class R>
concept wrong_beside = std::is_same_v<L, already_wrong> || std::is_same_v<R, already_wrong>;
template <class L, class R>
  requires wrong_beside<L, R>
already_wrong operator+(L, R);
template <class L, class R>
  requires wrong_beside<L, R>
already_wrong operator-(L, R);
template <class L, class R>
  requires wrong_beside<L, R>
already_wrong operator*(L, R);
template <class L, class R>
  requires wrong_beside<L, R>
already_wrong operator/(L, R);
already_wrong operator-(already_wrong);

}  // namespace qkv::detail
