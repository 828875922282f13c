// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sums of products of axis sizes: 4*batch*heads*seq*kv*d_k + batch*seq.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

class formula {
 public:
  formula() = default;
  // factor * the sizes of the axes
  formula(double factor, std::vector<axis_id> axes);

  formula &operator+=(const formula &);
  // With this number in place of the size of an axis.
  formula at(axis_id, double) const;

  // Axes by name, the largest degree first. "0" when empty.
  std::string text(const program &) const;

  // Empty when a size that is needed is not known (-1).
  std::optional<double> value(const std::vector<std::int64_t> &size) const;

 private:
  std::map<std::vector<axis_id>, double> terms_;
};

// 2097152 bytes -> "2.10 MB"; below 10000 as it is.
std::string short_number(double, std::string_view unit = "");

}  // namespace qkv::codegen
