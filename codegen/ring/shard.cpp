// SPDX-License-Identifier: BSL-1.0
#include "codegen/ring/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "codegen/program/presence.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "codegen/ring/open_weights.hpp"
#include "codegen/ring/states.hpp"

namespace qkv::codegen {
namespace {

axis_id axis_called(const program &p, std::string_view name) {
  const auto at =
      std::find_if(p.axes.begin(), p.axes.end(), [&](const axis &a) { return a.name == name; });
  if (at == p.axes.end()) throw std::runtime_error(fmt::format("{} has no axis {}", p.name, name));
  return static_cast<axis_id>(at - p.axes.begin());
}

// Names that parts give to what they pass on.
bool is_reserved(std::string_view name, std::string_view query, std::string_view key) {
  for (const std::string_view what : {"first_", "whole_"})
    for (const std::string_view axis : {query, key})
      if (name == std::string(what) + std::string(axis)) return true;
  if (name.starts_with("before_")) return true;
  for (const std::string_view what : {"step", "sum", "lse", "most", "least"})
    if (name.starts_with(what) && name.size() > what.size() &&
        name.find_first_not_of("0123456789", what.size()) == std::string_view::npos)
      return true;
  return false;
}

class sharding {
 public:
  sharding(const program &p, axis_id query, axis_id key)
      : p_(with_open_weights(p, key)), r_(p_, query, key), masked_(masked_steps(p_)) {}

  // From the last kernel to the first: each tells what earlier ones have to store.
  shares run() {
    shares made;
    for (int k = r_.rounds; k >= 0; --k) {
      made.own.push_back(own(k));
      if (k > 0) made.hops.push_back(hop(k - 1));
    }
    std::reverse(made.own.begin(), made.own.end());
    std::reverse(made.hops.begin(), made.hops.end());
    return made;
  }

 private:
  std::string stored_name(node_id n) const {
    const node &x = p_[n];
    const bool argument = x.kind == op::input || x.kind == op::param;
    return argument ? x.name : fmt::format("step{}", n);
  }

  // ---- of own tokens ----------------------------------------------------------------------------
  program own(int level) {
    part_ = std::make_unique<part>(p_, r_, fmt::format("{}_own{}", p_.name, level));
    at_.clear();
    if (level == r_.rounds)
      for (node_id n : p_.outputs) part_->f.result(of_own(p_[n].in[0], level), p_[n], p_[n].name);
    for (node_id n : stored_[level]) store(n, level);
    return part_->take(false);
  }

  // Memory has no absent elements: a step that may have some is stored with what tells them.
  void store(node_id n, int level) {
    formulas &f = part_->f;
    const node_id x = of_own(n, level);
    if (!masked_[n]) return f.result(x, p_[n], stored_name(n));
    presence here(f);
    const node_id present = here.of(x);
    f.result(here.filled(x), p_[n], stored_name(n));
    f.result(present == everywhere ? f.number(1, b8) : present, presence_of(n), presence_name(n));
  }
  node presence_of(node_id n) const {
    node x = p_[n];
    x.type = b8;
    return x;
  }
  std::string presence_name(node_id n) const { return stored_name(n) + "_present"; }

  node_id of_own(node_id n, int level) {
    if (const auto it = at_.find(n); it != at_.end()) return it->second;
    const node_id made = found_own(n, level);
    return at_[n] = made;
  }
  node_id found_own(node_id n, int level) {
    const node &x = p_[n];
    if (x.kind == op::input || x.kind == op::param) return part_->argument(n, x.name);
    if (r_.of_pairs[n])
      throw std::runtime_error(
          fmt::format("{}: {}: it exists for pairs of {} and {}, of which no "
                      "machine has all",
                      p_.name, label_of(p_, n), p_.axes[r_.query].name, p_.axes[r_.key].name));
    if (r_.sums[n]) return state(n);
    if (r_.level[n] < level && !r_.simple[n]) return stored(n);
    return copy(n, [&](node_id operand) { return of_own(operand, level); });
  }

  // ---- of pairs ---------------------------------------------------------------------------------
  program hop(int round) {
    part_ = std::make_unique<part>(p_, r_, fmt::format("{}_hop{}", p_.name, round));
    at_.clear();
    part_->add_positions();
    add_states(p_, *part_, states_[round], [&](node_id n) { return of_hop(n, round); });
    return part_->take(true);
  }

  node_id of_hop(node_id n, int round) {
    if (const auto it = at_.find(n); it != at_.end()) return it->second;
    const node_id made = found_of_hop(n, round);
    return at_[n] = made;
  }
  node_id found_of_hop(node_id n, int round) {
    const node &x = p_[n];
    if (x.kind == op::input || x.kind == op::param) return part_->argument(n, x.name);
    if (r_.sums[n] && r_.round[n] < round) return state(n);
    if (r_.sums[n] || r_.of_pairs[n] || r_.simple[n])
      return copy(n, [&](node_id operand) { return of_hop(operand, round); });
    return stored(n);
  }

  // ---- both -------------------------------------------------------------------------------------
  template <class Value>
  node_id copy(node_id n, const Value &value) {
    node x = p_[n];
    x.less_maximum = false;  // keys with other scores may follow
    std::vector<node_id> operands;
    for (node_id operand : x.in) operands.push_back(value(operand));
    return part_->copy(std::move(x), operands);
  }

  node_id stored(node_id n) {
    stored_[r_.level[n]].insert(n);
    const node_id x = part_->argument(n, stored_name(n));
    return masked_[n] ? part_->f.mask(x, part_->argument(presence_of(n), presence_name(n))) : x;
  }

  // A sum that is complete.
  node_id state(node_id n) {
    states_[r_.round[n]].insert(n);
    const node_id sum = part_->argument(n, name_of_state(p_, n)), w = weights_of(p_, n);
    if (w == no_node || !p_[w].less_maximum) return sum;
    // A softmax of scores less their maximum is NaN in a row of -inf, but not where all are absent.
    if (masked_[p_[w].in[0]] || masked_[p_[n].in[0]] || masked_[p_[n].in[1]])
      throw std::runtime_error(fmt::format(
          "{} over {} and {}: {} less their maximum, with a mask: did you mean softmax of the scores "
          "themselves? it subtracts the maximum",
          p_.name, p_.axes[r_.query].name, p_.axes[r_.key].name, label_of(p_, p_[w].in[0])));
    node of_rows = p_[w];
    of_rows.shape = without(of_rows.shape, of_rows.over);
    formulas &f = part_->f;
    const dtype t = of_rows.type;
    const double inf = std::numeric_limits<double>::infinity();
    const node_id lse = part_->argument(of_rows, name_of_state(p_, w)),
                  nan = f.sub(f.number(inf, t), f.number(inf, t));
    return f.where(f.binary(op::equal, lse, f.number(-inf, t)), nan, sum);
  }

  const program p_;
  const roles r_;
  const std::vector<bool> masked_;
  std::unique_ptr<part> part_;
  std::map<node_id, node_id> at_;                     // of the part that is written
  std::map<int, std::set<node_id>> stored_, states_;  // by level, by round
};

}  // namespace

shares shard(const program &written, std::string_view query, std::string_view key) {
  const program p = opened(written);
  const axis_id q = axis_called(p, query), k = axis_called(p, key);
  if (q == k) throw std::runtime_error(p.name + ": queries and keys are along one axis");
  for (axis_id a : {q, k})
    if (p.axes[p.axes[a].root].size >= 0)
      throw std::runtime_error(fmt::format(
          "{} over {} and {}: machines share an axis whose size the call decides, and {} has {}",
          p.name, query, key, p.axes[a].name, p.axes[p.axes[a].root].size));
  for (const std::vector<node_id> *list : {&p.arguments, &p.outputs})
    for (node_id n : *list)
      if (is_reserved(p[n].name, query, key))
        throw std::runtime_error(
            fmt::format("{} over {} and {}: a part has an argument {}, too: choose another name",
                        p.name, query, key, p[n].name));
  for (node_id n : p.outputs)
    if (contains(p[n].shape, {q, k}))
      throw std::runtime_error(fmt::format("{} over {} and {}: {}: no machine has all of its pairs",
                                           p.name, query, key, p[n].name));
  return sharding(p, q, k).run();
}

program part_of(const program &p, std::string_view query, std::string_view key, int rounds, int n) {
  shares s = shard(p, query, key);
  if (static_cast<int>(s.hops.size()) != rounds)
    throw std::runtime_error(
        fmt::format("{} over {} and {} takes {} rounds of the keys: write DISTRIBUTED {}:{},{}:{}",
                    p.name, query, key, s.hops.size(), p.name, query, key, s.hops.size()));
  return n % 2 == 0 ? s.own[n / 2] : s.hops[n / 2];
}

}  // namespace qkv::codegen
