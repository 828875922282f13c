// SPDX-License-Identifier: BSL-1.0
#pragma once
// The checks of one machine before a call of several.
#include <cstdint>
#include <qkv/ring.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "ring/parts.hpp"

namespace qkv::ring {

struct checked_call {
  parts of;
  // By root axis: extents that queries and keys do not decide; -1 for those that no argument has.
  std::vector<std::int64_t> sizes;
};

// Compares the arguments of a machine with the table and with its part of the layout. Errors: see
// run_parts.
status check_call(const qkv_kernel &, const transport &, const layout &,
                  std::span<const qkv_tensor> arguments, const options &, checked_call &result);

int axis_called(const qkv_kernel &, std::string_view name);  // 0 if there is none

}  // namespace qkv::ring
