// SPDX-License-Identifier: BSL-1.0
#pragma once
// The kernels that a kernel was divided into (codegen/ring): attention_own0, attention_hop0,
// attention_merge0, attention_seen0, attention_own1.
#include <qkv/kernel.h>

#include <cstdint>
#include <functional>
#include <qkv/status.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace qkv::ring {

struct parts {
  std::vector<const qkv_kernel *> own, hops, merges, seen;  // null: a part with nothing to compute
  std::string query, key;                                   // axes
  // Pages of keys: an axis of them, and that of the keys of each; empty where keys have none.
  std::string pages, within;

  // Errors: unsupported where the kernel was not divided, those of find_table().
  static status of(const qkv_kernel &, parts &result);

 private:
  static status found(const qkv_kernel &, parts &result);
};

// The results of a hop.
enum class hop_result {
  continued,     // a sum over the keys so far, of queries or of all pairs
  sum_for_keys,  // a sum over these queries, which goes home with the keys
  of_pairs       // a result of the kernel
};
hop_result result_kind(const qkv_kernel &hop, const qkv_argument &, const parts &);

// True if some hop gives a result of this kind.
bool has_result(const parts &, hop_result);

// True if a result of an own part is a sum over its tokens, which joins those of other machines.
bool is_total(const qkv_argument &);

bool has_axis(const qkv_kernel &, const qkv_argument &, std::string_view axis);

// The size of an axis on all machines together.
using size_of_axis = std::function<std::int64_t(std::string_view)>;

// "seq" of first_seq; empty for other names.
std::string name_after(std::string_view prefix, std::string_view name);

}  // namespace qkv::ring
