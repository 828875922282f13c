// SPDX-License-Identifier: BSL-1.0
#pragma once
// The kernels that a kernel was divided into (codegen/ring): attention_own0, attention_hop0,
// attention_own1.
#include <qkv/kernel.h>

#include <qkv/status.hpp>
#include <string>
#include <vector>

namespace qkv::ring {

struct parts {
  std::vector<const qkv_kernel *> own, hops;  // null: a part with nothing to compute
  std::string query, key;                     // axes

  // Errors: unsupported where the kernel was not divided, those of find_table().
  static status of(const qkv_kernel &, parts &result);
};

// "seq" of first_seq; empty for other names.
std::string axis_after(std::string_view prefix, std::string_view name);

}  // namespace qkv::ring
