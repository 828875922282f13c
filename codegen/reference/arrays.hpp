// SPDX-License-Identifier: BSL-1.0
#pragma once
// Arguments and results of a program as numbers.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace qkv::codegen {

// A dense tensor of any dtype as numbers, row-major, axes in the order of the declaration. A b8 is
// 0 or 1.
struct array {
  std::vector<std::int64_t> shape;
  std::vector<double> data;
};
using arrays = std::map<std::string, array, std::less<>>;  // by the names of arguments or outputs

}  // namespace qkv::codegen
