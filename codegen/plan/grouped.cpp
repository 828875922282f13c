// SPDX-License-Identifier: BSL-1.0
// Sums that one walk over the same pairs can feed become one stage: two values under one softmax;
// the gradients of keys and values, which need the weights of the same pairs; the gradient of
// queries, which sums these pairs across; that of a table, which sums them by position; and that of
// a bias, which has them all.
#include <algorithm>
#include <utility>

#include "codegen/plan/attentions.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

// Sums with columns take registers and fast memory of a tile; others take little.
constexpr std::ptrdiff_t most_wide_sums = 4;
constexpr std::size_t most_sums = 8;

class grouping {
 public:
  explicit grouping(const program &p) : p_(p), users_(users_of(p)) {}

  std::vector<attention_stage> run(std::vector<attention_stage> stages) {
    const auto placed =
        std::stable_partition(stages.begin(), stages.end(),
                              [](const attention_stage &s) { return !s.sums[0].is_by_pair(); });
    const std::vector<attention_stage> to_place(placed, stages.end());
    stages.erase(placed, stages.end());
    for (attention_stage &s : stages) {
      const auto fits = [&](std::size_t k) {
        return can_join(groups_[k], s) && !closes_circle(k, s);
      };
      std::size_t k = 0;
      while (k < groups_.size() && !fits(k)) ++k;
      if (k == groups_.size())
        groups_.push_back(std::move(s));
      else
        join(groups_[k], s);
    }
    for (attention_stage &g : groups_)
      if (!g.is_normalised() && g.sums.size() > 1) g.shared = shared_steps(g, g.sums);
    for (std::size_t k = 0; k < groups_.size(); ++k) join_across(k);
    std::vector<attention_stage> alone;
    for (const attention_stage &s : to_place)
      if (!place(s)) alone.push_back(s);
    for (attention_stage &g : groups_)
      if (g.keeps_sums()) g.shared_in_all = shared_steps(g, all_sums(g));
    groups_.insert(groups_.end(), alone.begin(), alone.end());
    return std::move(groups_);
  }

 private:
  using steps = std::set<node_id>;

  bool can_join(const attention_stage &g, const attention_stage &s) const {
    if (g.key != s.key || g.row != s.row || g.row == no_axis || !same_set(g.outer, s.outer) ||
        g.weights != s.weights || !is_room_for(g.sums, s.sums) ||
        (g.lse != no_step && s.lse != no_step) ||
        p_[g.sums[0].core].type != p_[s.sums[0].core].type)
      return false;
    if (g.is_normalised() ? p_[g.weights].less_maximum : !share_product(g, s)) return false;
    for (const attention_stage *one : {&g, &s})
      if (is_one_of_two_orders(*one) || is_masked_by_product(*one)) return false;
    return !needs(g, s) && !needs(s, g);
  }

  // The stage with more sums has the rows: its tiles add to longer sums.
  void join_across(std::size_t k) {
    for (std::size_t j = 0; j < groups_.size(); ++j) {
      if (j == k || groups_[j].sums.size() > groups_[k].sums.size() ||
          !are_across(groups_[k], groups_[j]) || closes_circle_without(j, k))
        continue;
      groups_[k].across = {groups_[j]};
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(j));
      return;
    }
  }

  bool are_across(const attention_stage &a, const attention_stage &b) const {
    if (a.is_normalised() || b.is_normalised() || a.row == no_axis || a.row != b.key ||
        a.key != b.row || !same_set(a.outer, b.outer) || !a.across.empty() || !b.across.empty() ||
        !is_room_for(a.sums, b.sums))
      return false;
    const std::set<node_id> products(a.products.begin(), a.products.end());
    if (products != std::set<node_id>(b.products.begin(), b.products.end())) return false;
    for (const attention_stage *one : {&a, &b}) {
      if (is_one_of_two_orders(*one) || is_masked_by_product(*one)) return false;
      for (const weighted_sum &sum : one->sums)
        if (p_[sum.core].type != p_[a.sums[0].core].type) return false;
    }
    return !needs(a, b) && !needs(b, a);
  }

  // Adds sums by position to a walk over their pairs.
  bool place(const attention_stage &s) {
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      attention_stage &g = groups_[k];
      if (!fits_in(g, s) || closes_circle(k, s)) continue;
      if (s.sums[0].is_at_each_pair) {
        g.at_pairs.push_back(s.sums[0]);
        // Tasks take turns along what is summed: these axes come last.
        const std::vector<axis_id> summed = summed_at_pairs(p_, g);
        g.outer = with(without(g.outer, summed), summed);
      } else {
        g.placed.push_back(s.sums[0]);
      }
      return true;
    }
    return false;
  }

  bool fits_in(const attention_stage &g, const attention_stage &s) const {
    if (g.is_normalised() || g.row == no_axis || !same_set({g.row, g.key}, {s.row, s.key}) ||
        !same_set(g.outer, s.outer) || p_[g.sums[0].core].type != p_[s.sums[0].core].type ||
        g.by_pair().size() == most_sums || (s.sums[0].is_at_each_pair && g.across.empty()))
      return false;
    const std::set<node_id> products(g.products.begin(), g.products.end());
    for (node_id n : s.products)
      if (!products.count(n)) return false;
    for (const attention_stage *one : {&g, &s})
      if (is_one_of_two_orders(*one) || is_masked_by_product(*one)) return false;
    return !needs(g, s) && !needs(s, g);
  }

  static bool is_room_for(std::vector<weighted_sum> sums, const std::vector<weighted_sum> &more) {
    sums.insert(sums.end(), more.begin(), more.end());
    return sums.size() <= most_sums &&
           std::count_if(sums.begin(), sums.end(), [](const weighted_sum &sum) {
             return sum.column != no_axis;
           }) <= most_wide_sums;
  }

  static bool share_product(const attention_stage &a, const attention_stage &b) {
    return std::any_of(a.products.begin(), a.products.end(), [&](node_id n) {
      return std::find(b.products.begin(), b.products.end(), n) != b.products.end();
    });
  }

  bool is_one_of_two_orders(const attention_stage &s) const {
    return std::any_of(s.sums.begin(), s.sums.end(), [&](const weighted_sum &sum) {
      return codegen::is_one_of_two_orders(p_, users_[sum.core]);
    });
  }

  // True if a mask of these pairs depends on a product of the tile.
  bool is_masked_by_product(const attention_stage &s) const {
    for (const weighted_sum &sum : s.sums) {
      steps pairs;
      walk(
          p_, s.is_normalised() ? s.scores : sum.pairs,
          [&](node_id n) { return is_inlinable(p_, n); }, pairs);
      for (node_id n : pairs) {
        if (p_[n].kind != op::mask) continue;
        steps condition;
        walk(p_, p_[n].in[1], [&](node_id x) { return is_inlinable(p_, x); }, condition);
        for (node_id product : s.products)
          if (condition.count(product)) return true;
      }
    }
    return false;
  }

  // Everything that the sums of a stage are computed from.
  steps before(const attention_stage &s) const {
    steps seen;
    for (const weighted_sum &sum : all_sums(s))
      for (node_id operand : p_[sum.core].in) walk(p_, operand, [](node_id) { return true; }, seen);
    return seen;
  }

  static bool stores_one_of(const attention_stage &s, const steps &wanted) {
    const std::vector<weighted_sum> sums = all_sums(s);
    return wanted.count(s.lse) > 0 ||
           std::any_of(sums.begin(), sums.end(),
                       [&](const weighted_sum &sum) { return wanted.count(sum.core) > 0; });
  }

  bool needs(const attention_stage &user, const attention_stage &used) const {
    return stores_one_of(used, before(user));
  }

  // True if, with s in group k, two groups would wait for each other.
  bool closes_circle(std::size_t k, const attention_stage &s) const {
    std::vector<attention_stage> all = groups_;
    join(all[k], s);
    return waits_for_itself(all, k);
  }
  // The same if group j becomes a part of group k.
  bool closes_circle_without(std::size_t j, std::size_t k) const {
    std::vector<attention_stage> all = groups_;
    join(all[k], all[j]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(j));
    return waits_for_itself(all, j < k ? k - 1 : k);
  }

  bool waits_for_itself(const std::vector<attention_stage> &all, std::size_t k) const {
    std::set<std::size_t> reached;
    std::vector<std::size_t> open = {k};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      const steps wanted = before(all[at]);
      for (std::size_t j = 0; j < all.size(); ++j) {
        if (!stores_one_of(all[j], wanted)) continue;
        if (j == k) return true;
        if (reached.insert(j).second) open.push_back(j);
      }
    }
    return false;
  }

  static void join(attention_stage &g, const attention_stage &s) {
    g.sums.insert(g.sums.end(), s.sums.begin(), s.sums.end());
    if (g.lse == no_step) g.lse = s.lse;
    for (node_id n : s.products)
      if (std::find(g.products.begin(), g.products.end(), n) == g.products.end())
        g.products.push_back(n);
  }

  // The outermost steps per pair that several sums need, unless they are a few instructions.
  std::vector<node_id> shared_steps(const attention_stage &g,
                                    const std::vector<weighted_sum> &sums) const {
    std::vector<steps> trees;
    for (const weighted_sum &sum : sums) {
      trees.emplace_back();
      walk(p_, sum.pairs, [&](node_id n) { return is_inlinable(p_, n); }, trees.back());
    }
    const auto uses = [&](node_id n) {
      return std::count_if(trees.begin(), trees.end(),
                           [&](const steps &tree) { return tree.count(n) > 0; });
    };
    steps found;
    for (std::size_t k = 0; k < trees.size(); ++k)
      for (node_id n : trees[k])
        if (uses(n) > 1 && is_worth_a_tile(g, n) &&
            (n == sums[k].pairs ||
             std::any_of(users_[n].begin(), users_[n].end(),
                         [&](node_id user) { return trees[k].count(user) && uses(user) < 2; })))
          found.insert(n);
    return {found.begin(), found.end()};
  }

  bool is_worth_a_tile(const attention_stage &g, node_id n) const {
    const node &x = p_[n];
    if (is_source(x.kind) || x.kind == op::dot || !is_floating(x.type) || !has(x.shape, g.key) ||
        !has(x.shape, g.row))
      return false;
    steps inside;
    walk(p_, n, [&](node_id y) { return is_inlinable(p_, y); }, inside);
    return std::any_of(inside.begin(), inside.end(), [&](node_id y) {
      return !is_source(p_[y].kind) && is_inlinable(p_, y) && !is_cheap(p_, y);
    });
  }

  const program &p_;
  const std::vector<std::vector<node_id>> users_;
  std::vector<attention_stage> groups_;
};

}  // namespace

std::vector<attention_stage> grouped(const program &p, std::vector<attention_stage> stages) {
  return grouping(p).run(std::move(stages));
}

}  // namespace qkv::codegen
