// SPDX-License-Identifier: BSL-1.0
#pragma once
// Names of the steps that a kernel keeps for its gradient: kept0, kept1, .. among the results of
// <kernel>_saving and among the arguments of <kernel>_gradient_saved.
#include <string_view>

namespace qkv::core {

inline constexpr std::string_view kept_prefix = "kept";

constexpr bool is_kept_step(std::string_view name) {
  return name.size() > kept_prefix.size() && name.starts_with(kept_prefix) &&
         name.substr(kept_prefix.size()).find_first_not_of("0123456789") == name.npos;
}

}  // namespace qkv::core
