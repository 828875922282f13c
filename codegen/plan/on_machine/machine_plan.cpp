// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/on_machine/machine_plan.hpp"

#include <algorithm>

#include "codegen/plan/on_machine/attention_tiling.hpp"
#include "codegen/plan/on_machine/row_launches.hpp"
#include "codegen/program/sizes.hpp"

namespace qkv::codegen {
namespace {

std::vector<stage> on_device(const plan &made) {
  std::vector<stage> all;
  for (const stage &s : made.cut.list) {
    const auto *a = std::get_if<attention_stage>(&s);
    if (!a) {
      all.push_back(s);
      continue;
    }
    for (const attention_stage &walk : walks_of(*a)) all.emplace_back(walk);
    const std::vector<weighted_sum> by_pair = a->by_pair();
    if (by_pair.empty()) continue;
    for (const node_id n : a->products) all.push_back(stored_product(made.p, n));
    for (const weighted_sum &sum : by_pair)
      all.emplace_back(
          map_stage{sum.root, made.p[sum.core].kind == op::output ? no_step : sum.core});
  }
  return all;
}

int panel_for(const program &p, const machine &m, axis_id column) {
  return m.panels.of(p.axes[column].size);
}

loops loops_for(const plain_choice &choice, std::size_t position) {
  if (choice.stages.contains(position)) return loops::required;
  return choice.where_possible ? loops::preferred : loops::none;
}

bool multiplies_bf16(const machine_plan &planned) {
  const auto is_of_bf16 = [](const attention_tile &t) { return t.bf16.has_value(); };
  if (!planned.parts.empty())
    return std::any_of(planned.parts.begin(), planned.parts.end(), multiplies_bf16);
  return std::any_of(planned.list.begin(), planned.list.end(), [&](const machine_stage &s) {
    return std::any_of(s.tiles.begin(), s.tiles.end(), is_of_bf16);
  });
}

// True if positions along these axes are tasks enough, whatever the call's sizes.
bool has_tasks(const plan &made, const std::vector<axis_id> &outer) {
  constexpr std::int64_t enough = 4;
  std::int64_t tasks = 1;
  for (const axis_id a : outer) tasks *= std::max<std::int64_t>(static_size(made.p, a), 1);
  return tasks >= enough;
}

machine_plan planned_on(const plan &made, const machine &m, const other_writers &others) {
  machine_plan all{made, m, {}, {}, {}};
  const bool has_loops = others.plain.where_possible || !others.plain.stages.empty();
  if (m.is_host() && !has_loops)
    for (std::size_t k = 0; k < made.parts.size(); ++k) {
      all.parts.push_back(planned_on(made.parts[k], m, others));
      all.parts[k].is_in_task =
          made.by_chunks->parts[k].is_of_chunk && has_tasks(made, made.by_chunks->outer);
    }
  if (m.is_host() && all.parts.empty()) all.packs = made.packs;
  for (pack &k : all.packs) k.panel = panel_for(made.p, m, k.columns[0]);
  const std::vector<stage> stages = m.is_host() ? made.cut.list : on_device(made);
  const std::vector<bool> with_next =
      m.is_host() ? std::vector<bool>(stages.size()) : shared_launches(made, stages);
  for (std::size_t k = 0; k < stages.size(); ++k) {
    machine_stage one{stages[k], {}, 0, {}, loops::none, with_next[k]};
    if (const auto *c = std::get_if<contraction_stage>(&one.what))
      one.panel = panel_for(made.p, m, c->column);
    if (const auto *a = std::get_if<attention_stage>(&one.what))
      one.tiles = attention_tiles_for(m, made, *a);
    if (others.cuda) one.by_tensor_cores = tensor_code_for(made, m, one.what);
    if (m.is_host()) one.by_loops = loops_for(others.plain, all.list.size());
    all.list.push_back(std::move(one));
  }
  return all;
}

}  // namespace

machine_plan plan_on(const plan &made, const machine &m, const other_writers &others) {
  require_sizes(made.p);
  return planned_on(made, m, others);
}

std::vector<machine_plan> plans_on(const plan &made, const std::vector<machine> &machines,
                                   const other_writers &others) {
  std::vector<machine_plan> all;
  for (const machine &m : machines) {
    machine_plan planned = plan_on(made, m, others);
    const auto is_base = [&](const machine &other) {
      return other.name == m.like && other.name != m.name && m.has_tiles_of(other);
    };
    const bool repeats = std::any_of(machines.begin(), machines.end(), is_base);
    if (!repeats || multiplies_bf16(planned)) all.push_back(std::move(planned));
  }
  return all;
}

}  // namespace qkv::codegen
