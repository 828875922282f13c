// SPDX-License-Identifier: BSL-1.0
#pragma once
// Makes a status from a format string; private to the runtime.
#include <fmt/format.h>

#include <iterator>
#include <qkv/status.hpp>

namespace qkv::detail {

template <class... Arg>
status fail(status_code code, fmt::format_string<Arg...> format, Arg &&...arg) noexcept {
  try {
    return {code, fmt::format(format, std::forward<Arg>(arg)...)};
  } catch (...) {
    return code;
  }
}

}  // namespace qkv::detail
