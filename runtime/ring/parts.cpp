// SPDX-License-Identifier: BSL-1.0
#include "ring/parts.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <qkv/core/partial_sum.hpp>
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

// The number of the last part that some library has, of each kind.
status find_all(const char *kernel, const char *kind, std::vector<const qkv_kernel *> &all,
                std::size_t &rounds) {
  constexpr int most_rounds = 9;
  for (int round = 0; round <= most_rounds; ++round) {
    const qkv_kernel *part = nullptr;
    if (status s = find(fmt::format("{}_{}{}", kernel, kind, round), part); !s) return s;
    all.push_back(part);
    if (part) rounds = std::max(rounds, static_cast<std::size_t>(round));
  }
  return {};
}

}  // namespace

std::string name_after(std::string_view prefix, std::string_view name) {
  return std::string(name.starts_with(prefix) ? name.substr(prefix.size()) : "");
}

bool has_axis(const qkv_kernel &k, const qkv_argument &a, std::string_view axis) {
  return std::any_of(a.axes, a.axes + a.rank,
                     [&](std::int32_t one) { return k.axes[one].name == axis; });
}

hop_result result_kind(const qkv_kernel &hop, const qkv_argument &a, const parts &of) {
  if (!has_axis(hop, a, of.key)) return hop_result::continued;
  return has_axis(hop, a, of.query) ? hop_result::of_pairs : hop_result::sum_for_keys;
}

bool has_result(const parts &of, hop_result kind) {
  return std::any_of(of.hops.begin(), of.hops.end(), [&](const qkv_kernel *hop) {
    return hop && std::any_of(hop->arguments, hop->arguments + hop->n_arguments,
                              [&](const qkv_argument &a) {
                                return a.role == QKV_OUT && result_kind(*hop, a, of) == kind;
                              });
  });
}

bool is_total(const qkv_argument &a) {
  return a.role == QKV_OUT && core::joining_of(a.name).has_value();
}

status parts::of(const qkv_kernel &k, parts &result) {
  // A call looks them up often, and libraries come and go seldom.
  static std::mutex lock;
  static std::map<const qkv_kernel *, parts> known;
  static std::uint64_t changes = 0;
  const std::lock_guard hold(lock);
  if (const std::uint64_t now = detail::registry_changes(); now != changes) {
    known.clear();
    changes = now;
  }
  if (const auto at = known.find(&k); at != known.end()) {
    result = at->second;
    return {};
  }
  if (status s = found(k, result); !s) return s;
  known.emplace(&k, result);
  return {};
}

status parts::found(const qkv_kernel &k, parts &result) {
  // The last own part gives the results that are not of pairs; there may be none.
  std::size_t last_own = 0, last_hop = 0;
  if (status s = find_all(k.name, "own", result.own, last_own); !s) return s;
  if (status s = find_all(k.name, "hop", result.hops, last_hop); !s) return s;
  if (status s = find_all(k.name, "merge", result.merges, last_hop); !s) return s;
  if (status s = find_all(k.name, "seen", result.seen, last_hop); !s) return s;
  const bool is_divided = last_own > 0 || result.hops[0];
  if (!is_divided)
    return detail::fail(status_code::unsupported,
                        "{}: it was not built for several machines: DISTRIBUTED of qkv_add_kernels",
                        k.name);
  const std::size_t rounds = std::max(last_own, result.hops[last_hop] ? last_hop + 1 : last_hop);
  result.own.resize(rounds + 1);
  result.hops.resize(rounds);
  result.merges.resize(rounds);
  result.seen.resize(rounds);
  for (const qkv_kernel *hop : result.hops) {
    if (!hop) continue;
    for (const auto &[n, axis] : {std::pair{0, &result.query}, {1, &result.key}})
      *axis = hop->n_arguments > n ? name_after("first_", hop->arguments[n].name) : "";
    if (result.query.empty() || result.key.empty())
      return detail::fail(status_code::wrong_version, "{}: its positions are missing", hop->name);
    for (int c = 0; c < hop->n_conditions; ++c) {
      const qkv_condition &merge = hop->conditions[c];
      if (merge.kind != QKV_PRODUCT || result.key != hop->axes[merge.a].name) continue;
      result.pages = hop->axes[merge.b].name;
      result.within = hop->axes[merge.c].name;
    }
  }
  if (result.query.empty())
    return detail::fail(status_code::unsupported, "{}: no pairs of tokens", k.name);
  return {};
}

}  // namespace qkv::ring
