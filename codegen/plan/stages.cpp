// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/stages.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

template <class... F>
struct overloaded : F... {
  using F::operator()...;
};

}  // namespace

axis_id last_of(const std::vector<axis_id> &axes, const std::vector<axis_id> &but) {
  const std::vector<axis_id> rest = without(axes, but);
  return rest.empty() ? no_axis : rest.back();
}

axis_id row_of(const program &p, const std::vector<axis_id> &axes,
               const std::vector<axis_id> &but) {
  const auto rank = [&](axis_id a) {
    const std::int64_t size = static_size(p, a);
    return std::pair{!p.axes[a].batch, size < 0 ? std::numeric_limits<std::int64_t>::max() : size};
  };
  axis_id row = no_axis;
  for (axis_id a : without(axes, but))
    if (row == no_axis || rank(a) >= rank(row)) row = a;
  return row;
}

std::vector<weighted_sum> all_sums(const attention_stage &s) {
  std::vector<weighted_sum> all = s.sums;
  for (const attention_stage &x : s.across) all.insert(all.end(), x.sums.begin(), x.sums.end());
  const std::vector<weighted_sum> by_pair = s.by_pair();
  all.insert(all.end(), by_pair.begin(), by_pair.end());
  return all;
}

std::vector<weighted_sum> attention_stage::by_pair() const {
  std::vector<weighted_sum> all = placed;
  all.insert(all.end(), at_pairs.begin(), at_pairs.end());
  return all;
}

std::vector<axis_id> summed_at_pairs(const program &p, const attention_stage &s) {
  std::vector<axis_id> all;
  for (const weighted_sum &sum : s.at_pairs)
    if (p[sum.core].kind == op::sum) all = with(all, p[sum.core].over);
  return all;
}

std::vector<attention_stage> walks_of(const attention_stage &s) {
  std::vector<attention_stage> walks = {s};
  walks[0].across.clear();
  walks[0].placed.clear();
  walks[0].at_pairs.clear();
  walks.insert(walks.end(), s.across.begin(), s.across.end());
  return walks;
}

std::string_view name_of(const stage &s) {
  return std::visit(overloaded{[](const contraction_stage &) { return "contraction"; },
                               [](const attention_stage &) { return "attention"; },
                               [](const map_stage &) { return "map"; },
                               [](const scan_stage &) { return "scan"; }},
                    s);
}

std::vector<node_id> roots_of(const stage &s) {
  using list = std::vector<node_id>;
  return std::visit(overloaded{[](const contraction_stage &c) { return list{c.root}; },
                               [](const attention_stage &a) {
                                 list roots;
                                 for (const weighted_sum &sum : all_sums(a))
                                   roots.push_back(sum.root);
                                 if (a.lse != no_step) roots.push_back(a.lse_root);
                                 return roots;
                               },
                               [](const map_stage &m) { return list{m.root}; },
                               [](const scan_stage &r) { return r.roots; }},
                    s);
}

node_id main_step_of(const stage &s) {
  return std::visit(
      overloaded{[](const contraction_stage &c) { return c.core; },
                 [](const attention_stage &a) { return a.sums[0].core; },
                 [](const map_stage &m) { return m.core == no_step ? m.root : m.core; },
                 [](const scan_stage &r) { return r.cores[0]; }},
      s);
}

}  // namespace qkv::codegen
