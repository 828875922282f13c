// SPDX-License-Identifier: BSL-1.0
#pragma once
// The number of columns that lie together in a panel of the right operand of a contraction.
#include <algorithm>
#include <cstdint>
#include <vector>

namespace qkv::codegen {

struct panel_widths {
  std::vector<int> dividing;  // the first of these that divides the columns, or
  std::vector<int> holding;   // the first of these that holds all columns, or
  int otherwise = 0;

  // Of a panel for so many columns, which are negative where the call decides.
  int of(std::int64_t columns) const {
    const auto divides = [&](int width) { return columns > 0 && columns % width == 0; };
    const auto holds = [&](int width) { return columns > 0 && columns <= width; };
    if (const auto it = std::find_if(dividing.begin(), dividing.end(), divides);
        it != dividing.end())
      return *it;
    const auto it = std::find_if(holding.begin(), holding.end(), holds);
    return it != holding.end() ? *it : otherwise;
  }
  friend bool operator==(const panel_widths &, const panel_widths &) = default;
};

}  // namespace qkv::codegen
