// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/stage_report.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"
#include "codegen/sheets/cost.hpp"

namespace qkv::codegen {
namespace {

// The steps that a stage recomputes for the steps it stores.
std::vector<node_id> inside(const plan &made, const stage &s) {
  std::vector<node_id> all = computed_in(made, s);
  for (node_id root : roots_of(s)) std::erase(all, root);
  return all;
}

// True for the steps that exist per query and key of an attention, and the next state of a scan.
bool is_never_stored(const program &p, const stage &s, node_id n) {
  if (const auto *scan = std::get_if<scan_stage>(&s)) return n == scan->next;
  const auto *a = std::get_if<attention_stage>(&s);
  if (!a || is_view(p[n].kind) || !is_floating(p[n].type)) return false;
  for (const weighted_sum &sum : all_sums(*a))
    if (sum.core == n) return false;
  return has(p[n].shape, a->key) && (a->row == no_axis || has(p[n].shape, a->row));
}

int products_for_each_pair(const attention_stage &s) {
  int n = static_cast<int>(s.products.size());
  for (const weighted_sum &sum : all_sums(s)) n += sum.values != no_step && sum.column != no_axis;
  return n;
}

}  // namespace

std::vector<node_id> computed_in(const plan &made, const stage &s) {
  std::set<node_id> seen;
  std::function<void(node_id)> walk = [&](node_id n) {
    if (is_source(made.p[n].kind) || !seen.insert(n).second) return;
    for (node_id operand : made.p[n].in)
      if (made.cut.stored_by[operand] < 0) walk(operand);
  };
  for (node_id root : roots_of(s)) walk(root);
  return {seen.begin(), seen.end()};
}

std::vector<stage_report> reports_of(const plan &made, const std::vector<std::int64_t> &size) {
  const program &p = made.p;
  const std::vector<bool> taken = taken_steps(p, size);
  std::vector<stage_report> reports;
  std::set<node_id> computed;
  for (const stage &s : made.cut.list) {
    stage_report r;
    r.kind = name_of(s);
    r.name = label_of(p, main_step_of(s));
    r.is_taken = taken[main_step_of(s)];
    for (node_id root : roots_of(s)) {
      r.stores.push_back(label_of(p, root));
      if (!taken[root]) continue;
      r.flops += flops_of(p, root);
      if (p[root].kind != op::output) r.stored += formula(size_of(p[root].type), p[root].shape);
    }
    if (const auto *a = std::get_if<attention_stage>(&s); a && a->keeps_sums()) {
      r.products = products_for_each_pair(*a);
      for (const attention_stage &walk : walks_of(*a)) {
        r.products_apart += products_for_each_pair(walk);
        ++r.walks_apart;
      }
      if (!a->by_pair().empty())
        for (node_id n : a->products) r.stored_on_gpus.push_back(label_of(p, n));
    }
    const char *where = std::holds_alternative<scan_stage>(s) ? ", at every position" : "";
    for (node_id n : inside(made, s)) {
      if (taken[n]) r.flops += flops_of(p, n);
      if (taken[n] && !computed.insert(n).second) r.recomputed += flops_of(p, n);
      if (taken[n] && is_never_stored(p, s, n)) r.never_stored.push_back(label_of(p, n) + where);
    }
    reports.push_back(std::move(r));
  }
  return reports;
}

}  // namespace qkv::codegen
