// SPDX-License-Identifier: BSL-1.0
#include "ring/parts.hpp"

#include <utility>

#include "call/libraries.hpp"
#include "status/fail.hpp"

namespace qkv::ring {
namespace {

// Null where no library has it.
status find(const std::string &name, const qkv_kernel *&result) {
  const status s = detail::find_table(name, result);
  return s.code() == status_code::not_linked ? status() : s;
}

}  // namespace

std::string axis_after(std::string_view prefix, std::string_view name) {
  return std::string(name.starts_with(prefix) ? name.substr(prefix.size()) : "");
}

status parts::of(const qkv_kernel &k, parts &result) {
  for (int round = 0;; ++round) {
    const qkv_kernel *own = nullptr, *hop = nullptr;
    if (status s = find(fmt::format("{}_own{}", k.name, round), own); !s) return s;
    if (status s = find(fmt::format("{}_hop{}", k.name, round), hop); !s) return s;
    result.own.push_back(own);
    if (!hop) break;
    result.hops.push_back(hop);
  }
  if (result.hops.empty())
    return detail::fail(status_code::unsupported,
                        "{}: it was not built for several machines: DISTRIBUTED of qkv_add_kernels",
                        k.name);
  const qkv_kernel &hop = *result.hops[0];
  for (const auto &[n, axis] : {std::pair{0, &result.query}, {1, &result.key}})
    *axis = hop.n_arguments > n ? axis_after("first_", hop.arguments[n].name) : "";
  if (result.query.empty() || result.key.empty())
    return detail::fail(status_code::wrong_version, "{}: its positions are missing", hop.name);
  return {};
}

}  // namespace qkv::ring
