// SPDX-License-Identifier: BSL-1.0
#include "codegen/ring/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <qkv/core/partial_sum.hpp>
#include <set>
#include <stdexcept>

#include "codegen/program/presence.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "codegen/ring/independent.hpp"
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

bool is_stored(std::string_view name) {
  return name.starts_with("step") && name.size() > 4 &&
         name.substr(4, name.find('_') - 4).find_first_not_of("0123456789") == name.npos;
}

// Names that parts give to what they pass on.
bool is_reserved(std::string_view name, const std::vector<axis> &axes) {
  for (const std::string_view what : {"first_", "whole_"})
    for (const axis &a : axes)
      if (name == std::string(what) + a.name) return true;
  if (name == "seen_pairs" || name.starts_with("before_") || name.starts_with("with_")) return true;
  return core::joining_of(name) || is_stored(name);
}

token_places places_of(const program &p, axis_id query, axis_id key) {
  token_places r(p, query, key);
  r.independent = independent_axes(p, r);
  return r;
}

class sharding {
 public:
  sharding(const program &p, axis_id query, axis_id key)
      : p_(with_open_weights(p, query, key)),
        r_(places_of(p_, query, key)),
        masked_(masked_steps(p_)) {}

  // From the last kernel to the first: each tells what earlier ones have to compute.
  shares run() {
    shares made;
    for (int k = r_.rounds; k >= 0; --k) {
      made.own.push_back(own(k));
      if (k == 0) break;
      made.hops.push_back(hop(k - 1));
    }
    for (int k = r_.rounds - 1; k >= 0; --k) {
      made.merges.push_back(merge(k));
      made.seen.push_back(seen(k));
    }
    for (std::vector<program> *parts : {&made.own, &made.hops, &made.merges, &made.seen})
      std::reverse(parts->begin(), parts->end());
    return made;
  }

 private:
  void begin(const char *what, int number) {
    const bool of_pairs = what != std::string_view("own");
    part_ = std::make_unique<part>(p_, r_, fmt::format("{}_{}{}", p_.name, what, number), of_pairs);
    at_.clear();
  }

  // ---- of own tokens ----------------------------------------------------------------------------
  program own(int level) {
    begin("own", level);
    if (level == r_.rounds)
      for (node_id n : p_.outputs)
        if (r_.at[n] != place::pairs)
          part_->f.result(of_own(p_[n].in[0], level), p_[n], p_[n].name);
    for (node_id n : stored_[level]) store(n, level);
    for (node_id n : sums_[level])
      if (r_.at[n] == place::own_total)
        part_->f.result(copy(n, [&](node_id operand) { return of_own(operand, level); }), p_[n],
                        name_of_state(p_, n));
    return part_->take();
  }

  static std::string stored_name(node_id n) { return fmt::format("step{}", n); }

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
  static std::string presence_name(node_id n) { return stored_name(n) + "_present"; }

  node_id of_own(node_id n, int level) {
    return known(n, [&] {
      if (r_.at[n] == place::pairs)
        throw std::runtime_error(
            fmt::format("{}: {}: it exists for pairs of {} and {}, of which no "
                        "machine has all",
                        p_.name, label_of(p_, n), p_.axes[r_.query].name, p_.axes[r_.key].name));
      if (is_sum(r_.at[n])) return state(n);
      if (r_.level[n] < level && !r_.simple[n]) return stored(n);
      return copy(n, [&](node_id operand) { return of_own(operand, level); });
    });
  }

  // ---- of pairs ---------------------------------------------------------------------------------
  program hop(int round) {
    begin("hop", round);
    std::set<node_id> continued, of_keys;
    for (node_id n : sums_[round])
      if (r_.at[n] != place::own_total)
        (r_.at[n] == place::key_sum ? of_keys : continued).insert(n);
    part_->add_positions();
    add_states(p_, r_, *part_, continued, [&](node_id n) { return block(n, round); });
    for (node_id n : of_keys)
      part_->f.result(of_hop(n, round), like_state(p_, n), name_of_state(p_, n));
    for (node_id n : p_.outputs)
      if (r_.at[n] == place::pairs && r_.round[n] == round)
        part_->f.result(of_hop(p_[n].in[0], round), p_[n], p_[n].name);
    return part_->take();
  }

  node_id block(node_id n, int round) {
    const node &x = p_[n];
    if (x.kind != op::softmax) return of_hop(n, round);
    formulas &f = part_->f;
    return f.reduce(op::logsumexp, f.cast(of_hop(x.in[0], round), x.type), x.over);
  }

  node_id of_hop(node_id n, int round) {
    return known(n, [&] {
      if (is_sum(r_.at[n]) && r_.round[n] < round) return state(n);
      if (is_of_pairs(r_.at[n]) || r_.simple[n])
        return copy(n, [&](node_id operand) { return of_hop(operand, round); });
      return stored(n);
    });
  }

  // Two states of the same queries, from keys of different machines, become one. Where there are
  // other results, they have to go round, and nothing is merged.
  program merge(int round) {
    begin("merge", round);
    std::set<node_id> of_queries;
    for (node_id n : sums_[round])
      if (r_.at[n] == place::query_sum && can_merge()) of_queries.insert(n);
    add_states(p_, r_, *part_, of_queries, [&](node_id n) {
      return part_->argument(like_state(p_, n), "with_" + name_of_state(p_, n));
    });
    return part_->take();
  }

  // Pairs that masks leave. A mask that is as costly as the scores is not worth a look.
  program seen(int round) {
    begin("seen", round);
    formulas &f = part_->f;
    presence here(f);
    node_id some = no_node;  // where one of the sums has an element
    for (node_id n : sums_[round]) {
      if (r_.at[n] == place::own_total) continue;
      const node_id there = present_in(n, round, here);
      if (there == everywhere) return nothing();
      some = some == no_node ? there : f.binary(op::or_, some, there);
    }
    if (some == no_node || has_results_of_pairs(round)) return nothing();
    node count;
    count.type = f64;
    const std::vector<axis_id> all = with(f.shape(some), {r_.query, r_.key});
    f.result(f.reduce(op::sum, f.cast(f.expand(some, all), f64), all), count, "seen_pairs");
    program p = part_->take();
    const auto is_costly = [&](const node &x) {
      return !(is_source(x.kind) || is_pointwise(x.kind) || is_view(x.kind) || is_gather(x.kind) ||
               x.kind == op::output || (x.kind == op::sum && x.shape.empty()));
    };
    const auto no_argument_has = [&](axis_id a) {  // then nothing says how many there are
      return std::none_of(p.arguments.begin(), p.arguments.end(), [&](node_id n) {
        return varies_along(p[n], {axis_called(p, p_.axes[a].name)});
      });
    };
    if (no_argument_has(r_.query) || no_argument_has(r_.key) ||
        std::any_of(p.nodes.begin(), p.nodes.end(), is_costly))
      return nothing();
    return p;
  }

  program nothing() const {
    program p;
    p.name = p_.name;
    return p;
  }

  // Where a sum has elements: a product where both factors are present.
  node_id present_in(node_id n, int round, presence &here) {
    if (const node_id w = weights_of(p_, n); w != no_node)
      return here.of(of_hop(p_[w].in[0], round));
    node_id both = everywhere;
    for (node_id operand : p_[n].in) {
      const node_id one = here.of(of_hop(operand, round));
      if (both == everywhere)
        both = one;
      else if (one != everywhere)
        both = part_->f.binary(op::and_, both, one);
    }
    return both;
  }
  bool has_results_of_pairs(int round) const {
    return std::any_of(p_.outputs.begin(), p_.outputs.end(),
                       [&](node_id n) { return r_.at[n] == place::pairs && r_.round[n] == round; });
  }

  bool can_merge() const {
    const auto is_more = [&](node_id n) {
      return r_.at[n] == place::key_sum || r_.at[n] == place::own_total;
    };
    const auto is_of_pairs = [&](node_id n) { return r_.at[n] == place::pairs; };
    for (const auto &[round, sums] : sums_)
      if (std::any_of(sums.begin(), sums.end(), is_more)) return false;
    return std::none_of(p_.outputs.begin(), p_.outputs.end(), is_of_pairs);
  }

  // ---- all --------------------------------------------------------------------------------------
  template <class Make>
  node_id known(node_id n, const Make &make) {
    if (const auto it = at_.find(n); it != at_.end()) return it->second;
    if (const node &x = p_[n]; x.kind == op::input || x.kind == op::param)
      return at_[n] = part_->argument(n, x.name);
    const node_id made = make();
    return at_[n] = made;
  }

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
    sums_[r_.round[n]].insert(n);
    const node_id sum = part_->argument(n, name_of_state(p_, n)), w = weights_of(p_, n);
    if (w == no_node || !p_[w].less_maximum) return sum;
    // A softmax of scores less their maximum is NaN in a row of -inf, but not where all are absent.
    if (masked_[p_[w].in[0]] || masked_[p_[n].in[0]] || masked_[p_[n].in[1]])
      throw std::runtime_error(fmt::format(
          "{} over {} and {}: {} less their maximum, with a mask: did you mean softmax of the "
          "scores "
          "themselves? it subtracts the maximum",
          p_.name, p_.axes[r_.query].name, p_.axes[r_.key].name, label_of(p_, p_[w].in[0])));
    const node_id of_weights = logsumexp_with(p_, r_, n);
    const node of_rows = like_state(p_, of_weights);
    formulas &f = part_->f;
    const dtype t = of_rows.type;
    const double inf = std::numeric_limits<double>::infinity();
    const node_id lse = part_->argument(of_rows, name_of_state(p_, of_weights)),
                  nan = f.sub(f.number(inf, t), f.number(inf, t));
    return f.where(f.binary(op::equal, lse, f.number(-inf, t)), nan, sum);
  }

  const program p_;
  const token_places r_;
  const std::vector<bool> masked_;
  std::unique_ptr<part> part_;
  std::map<node_id, node_id> at_;                   // of the part that is written
  std::map<int, std::set<node_id>> stored_, sums_;  // by level, by round
};

}  // namespace

shares shard(const program &written, std::string_view query, std::string_view key) {
  const program p = opened(written);
  const axis_id q = axis_called(p, query), k = axis_called(p, key);
  if (q == k) throw std::runtime_error(p.name + ": queries and keys are along one axis");
  for (axis_id a : {q, k})
    if (static_size(p, a) >= 0)
      throw std::runtime_error(fmt::format(
          "{} over {} and {}: machines share an axis whose size the call decides, and {} has {}",
          p.name, query, key, p.axes[a].name, static_size(p, a)));
  for (const std::vector<node_id> *list : {&p.arguments, &p.outputs})
    for (node_id n : *list)
      if (is_reserved(p[n].name, p.axes))
        throw std::runtime_error(
            fmt::format("{} over {} and {}: a part has an argument {}, too: choose another name",
                        p.name, query, key, p[n].name));
  return sharding(p, q, k).run();
}

program part_of(const program &p, std::string_view query, std::string_view key, int rounds, int n) {
  shares s = shard(p, query, key);
  if (static_cast<int>(s.hops.size()) != rounds)
    throw std::runtime_error(
        fmt::format("{} over {} and {} takes {} rounds of the keys: write DISTRIBUTED {}:{},{}:{}",
                    p.name, query, key, s.hops.size(), p.name, query, key, s.hops.size()));
  std::vector<program> *const kinds[] = {&s.own, &s.hops, &s.merges, &s.seen};
  return (*kinds[n % 4])[static_cast<std::size_t>(n / 4)];
}

}  // namespace qkv::codegen
