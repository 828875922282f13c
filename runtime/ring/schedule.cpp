// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "ring/rounds.hpp"
#include "status/fail.hpp"

namespace qkv::ring {
namespace {

bool has_totals_of_own(const parts &of) {
  for (const qkv_kernel *own : of.own)
    if (own && std::any_of(own->arguments, own->arguments + own->n_arguments, is_total))
      return true;
  return false;
}

}  // namespace

status choose_schedule(const machine &m, round_function &result) {
  const schedule wanted = m.how.by;
  const bool everywhere = m.where.queries_are_everywhere();
  const auto refused = [&](const char *why) {
    return detail::fail(status_code::unsupported, "{}: {}", m.k.name, why);
  };
  if (everywhere && wanted != schedule::automatic && wanted != schedule::tree)
    return refused("every machine has all queries: the schedule is tree");
  const bool any = m.size() == 1 || m.where.all_queries() == 0;  // one machine, or nothing to do
  if (!everywhere && !any && wanted == schedule::tree)
    return refused("schedule tree: every machine has all queries, as in ring::block_cyclic");
  if (everywhere) {
    if (has_result(m.of(), hop_result::sum_for_keys) || has_result(m.of(), hop_result::of_pairs) ||
        has_totals_of_own(m.of()))
      return refused("schedule tree: results along keys or sums over queries");
    result = tree_round;
    return {};
  }
  if (wanted == schedule::gather && has_result(m.of(), hop_result::sum_for_keys))
    return refused("schedule gather: sums go home with their keys: ring");
  result = wanted == schedule::gather ? gather_round : ring_round;
  return {};
}

}  // namespace qkv::ring
