// SPDX-License-Identifier: BSL-1.0
// Cuts a pipeline into stages: first attentions, then contractions, then other steps that must be
// stored.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "codegen/plan/attentions.hpp"
#include "codegen/plan/stages.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

// Recomputing more than this many steps at every use costs more than storing the result.
constexpr int inline_limit = 48;
// The same for operands of a contraction: each is read once for every panel of columns.
constexpr int operand_limit = 8;
// Number of steps that a hash counts as.
constexpr int uniform_size = 32;

constexpr std::size_t no_stage = static_cast<std::size_t>(-1);

class cutter {
 public:
  explicit cutter(const program &p)
      : p_(p),
        users_(users_of(p)),
        masked_(masked_steps(p)),
        has_gaps_(steps_with_gaps(p)),
        may_be_empty_(steps_with_empty_weights(p)),
        walked_(walked_axes(p)),
        attentions_(find_attentions(p)),
        layers_of_pairs_(layers_of_pairs()),
        row_steps_(p.nodes.size(), false),
        stored_(p.nodes.size(), false),
        result_of_(p.nodes.size(), no_stage) {}

  stages run() {
    for (const attention_stage &s : attentions_.stages) mark_row_steps(s);
    mark_stored();
    return build();
  }

  stage product(node_id n) const {
    if (!is_contraction(n)) return map_stage{n, n};
    contraction_stage s = contraction_at(n);
    s.root = n;
    return s;
  }

 private:
  // Steps of one position belong to their scan, whatever they are.
  bool in_scan(node_id n) const { return walked_[n] >= 0; }

  int inlined_size(node_id n, std::map<node_id, int> &memo) const {
    if (stored_[n] || row_steps_[n] || attentions_.taken[n] || !is_inlinable(p_, n)) return 1;
    if (auto it = memo.find(n); it != memo.end()) return it->second;
    int size = p_[n].kind == op::uniform ? uniform_size : 1;
    for (node_id operand : p_[n].in) size = std::min(1 << 20, size + inlined_size(operand, memo));
    return memo[n] = size;
  }

  void mark_stored() {
    std::map<node_id, int> memo;
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      if (x.kind == op::output) stored_[n] = true;
      if (is_source(x.kind) || x.kind == op::output || in_scan(n)) continue;
      if (!is_inlinable(p_, n)) {
        stored_[n] = !attentions_.taken[n] || attentions_.by_core.count(n) || attentions_.is_lse(n);
        continue;
      }
      if (in_score_cone(n) || is_masked(n) || row_steps_[n]) continue;
      int uses = 0;
      for (node_id user : users_[n]) uses += p_[user].kind != op::output;
      memo.clear();
      const int size = inlined_size(n, memo);
      if (layers_of_pairs_[n] && size <= inline_limit) continue;
      const bool heavy = (!is_cheap(p_, n) && (uses > 1 || feeds_contraction(n))) ||
                         (feeds_contraction(n) && size > operand_limit) ||
                         (costs_more_than_a_load(n) && feeds_scan(n));
      if (x.shape.empty() ? false : heavy || size > inline_limit) stored_[n] = true;
    }
  }

  // Steps after a sum with columns may need functions of the logsumexp of the same stage, as a
  // state that goes on does. They are computed once a row, where the sum is written: stored, they
  // would be a stage of their own, and so would all that comes after the sum.
  void mark_row_steps(const attention_stage &s) {
    if (s.lse == no_step) return;
    for (const weighted_sum &sum : s.sums) {
      if (sum.column == no_axis) continue;
      std::set<node_id> after = steps_after(sum.core), cone;
      for (node_id n : after)
        for (node_id operand : p_[n].in)
          if (!after.count(operand) && operand != sum.core)
            walk(p_, operand, [&](node_id x) { return x != s.lse && is_inlinable(p_, x); }, cone);
      if (cone.size() > static_cast<std::size_t>(inline_limit)) continue;
      const auto is_of_row = [&](node_id n) {
        return is_pointwise(p_[n].kind) && same_set(p_[n].shape, p_[s.lse].shape);
      };
      // True for steps of which nothing but what comes after the sum, or a result of rows, is made.
      const std::function<bool(node_id)> ends_here = [&](node_id n) {
        if (after.count(n) || p_[n].kind == op::output) return true;
        return (cone.count(n) || is_of_row(n)) &&
               std::all_of(users_[n].begin(), users_[n].end(), ends_here);
      };
      for (node_id n : cone) {
        std::set<node_id> below;
        walk(p_, n, [&](node_id x) { return x != s.lse && is_inlinable(p_, x); }, below);
        row_steps_[n] = row_steps_[n] || (is_of_row(n) && below.count(s.lse) > 0 && ends_here(n));
      }
    }
  }

  // Pointwise steps that only follow from this one, each of the next.
  std::set<node_id> steps_after(node_id n) const {
    std::set<node_id> all;
    while (users_[n].size() == 1) {
      const node_id user = users_[n][0];
      if (!is_pointwise(p_[user].kind) || !same_set(p_[user].shape, p_[n].shape)) break;
      all.insert(n = user);
    }
    return all;
  }

  // A masked step is recomputed: storing it would lose what mask() removed.
  bool is_masked(node_id n) const { return masked_[n]; }

  // Or a scan, which may read it more than once at every position.
  bool feeds_contraction(node_id n) const {
    for (node_id user : users_[n]) {
      if (p_[user].kind == op::dot && !attentions_.is_product(user) && reads_again(user, n))
        return true;
      if (in_scan(user) && p_[user].kind != op::carried) return true;
      if (is_view(p_[user].kind) && feeds_contraction(user)) return true;
    }
    return false;
  }

  // True if a scan reads this for several columns of its state, or again at each position, perhaps
  // as a factor of other steps.
  bool feeds_scan(node_id n) const {
    const std::vector<axis_id> &shape = p_[n].shape;
    if (p_[n].kind == op::broadcast) return false;
    bool found = false;
    std::set<node_id> only_broadcast = {n};
    walk_users(users_, n, [&](node_id user, node_id step) {
      const node &x = p_[user];
      const bool is_itself = only_broadcast.count(step) > 0;
      if (x.kind == op::element) {
        const bool has_columns = is_itself && !contains(shape, p_[x.in[1]].shape);
        found = found || has_columns || !has(shape, x.over[0]);
      } else if (in_scan(user)) {
        found = found || x.kind != op::carried;
      } else if (x.kind == op::broadcast) {
        if (is_itself) only_broadcast.insert(user);
        return true;
      } else {
        return is_pointwise(x.kind);
      }
      return false;
    });
    return found;
  }

  // Features of each pair, tanh(Q + K) of additive scores, of which only sums over some of their
  // axes are made: computing them again takes less time than memory does.
  std::vector<bool> layers_of_pairs() const {
    std::vector<bool> layers(p_.nodes.size(), false);
    for (node_id n = static_cast<node_id>(p_.nodes.size()); n-- > 0;) {
      const std::vector<axis_id> &shape = p_[n].shape;
      const auto is_own = [&](axis_id a) { return !p_.axes[a].batch; };
      layers[n] = grows_with_pairs(p_, n) &&
                  std::count_if(shape.begin(), shape.end(), is_own) > 2 &&
                  std::all_of(users_[n].begin(), users_[n].end(), [&](node_id user) {
                    const node &x = p_[user];
                    if (x.kind == op::dot || x.kind == op::sum) return contains(shape, x.shape);
                    return is_pointwise(x.kind) && same_set(x.shape, shape) && layers[user];
                  });
    }
    return layers;
  }

  bool is_recomputed(node_id n) const { return is_inlinable(p_, n) && !stored_[n]; }

  // True for 1 + exp(x), which a scan would compute for each vector of columns of its state.
  bool costs_more_than_a_load(node_id n) const {
    return depends_on(
        p_, n, [&](node_id x) { return is_recomputed(x) && !is_cheap(p_, x); },
        [&](node_id x) { return is_recomputed(x); });
  }

  // Steps of n*m size that only an attention needs are never stored, whatever they cost.
  bool in_score_cone(node_id n) const {
    for (std::size_t k = 0; k < attentions_.stages.size(); ++k) {
      const attention_stage &s = attentions_.stages[k];
      if (!has(p_[n].shape, s.key) || (s.row != no_axis && !has(p_[n].shape, s.row))) continue;
      if (attentions_.cones[k].count(n)) return true;
    }
    return false;
  }

  // The last step that can be computed on the result of `n` while it is still in registers. What
  // waits for a result of the same stage cannot be read there.
  node_id epilogue_of(node_id n, std::size_t stage) const {
    for (;;) {
      if (stored_[n] && is_inlinable(p_, n)) return n;
      if (users_[n].size() != 1) return n;
      const node_id user = users_[n][0];
      const bool same_place = same_set(p_[user].shape, p_[n].shape) && !is_masked(user);
      if (!same_place || in_score_cone(user) || in_scan(user)) return n;
      if (!is_pointwise(p_[user].kind) && p_[user].kind != op::output) return n;
      if (is_alternative(p_, p_[user])) return n;  // the other one is skipped with its whole stage
      if (chooses_empty(p_[user], n)) return n;
      for (node_id operand : p_[user].in)
        if (operand != n && waits_for(operand, stage)) return n;
      n = user;
    }
  }

  // True if the step's condition decides which of its weights are empty. Memory does not keep that,
  // so readers of the step need the condition.
  bool chooses_empty(const node &x, node_id condition) const {
    const auto may_be_empty = [&](node_id n) { return n != condition && may_be_empty_[n]; };
    return x.kind == op::where && x.in[0] == condition &&
           std::any_of(x.in.begin(), x.in.end(), may_be_empty);
  }

  // True if another stage computes this from results of this one; or if this one does, and writes
  // its results side by side.
  bool waits_for(node_id n, std::size_t stage) const {
    if (stage == no_stage) return false;
    std::set<node_id> here, below;
    walk(p_, n, [&](node_id x) { return result_of_[x] != stage && is_recomputed(x); }, here);
    return std::any_of(here.begin(), here.end(), [&](node_id x) {
      if (result_of_[x] == stage) return side_by_side_.count(stage) > 0;
      return !is_recomputed(x) && needs(x, stage, below);
    });
  }

  // True if results of the stage are needed before this: a stage gives all its results at once.
  bool needs(node_id n, std::size_t stage, std::set<node_id> &seen) const {
    if (!seen.insert(n).second) return false;
    const std::size_t own = result_of_[n];
    if (own == stage) return true;
    std::vector<node_id> first = p_[n].in;
    if (own != no_stage)
      for (node_id result : results_[own])
        first.insert(first.end(), p_[result].in.begin(), p_[result].in.end());
    return std::any_of(first.begin(), first.end(),
                       [&](node_id operand) { return needs(operand, stage, seen); });
  }

  // The number of a stage of several results.
  std::size_t stage_with(const std::vector<node_id> &results) {
    for (node_id n : results) result_of_[n] = results_.size();
    results_.push_back(results);
    return results_.size() - 1;
  }

  static std::vector<node_id> results_of(const attention_stage &s) {
    std::vector<node_id> all;
    for (const weighted_sum &sum : all_sums(s)) all.push_back(sum.core);
    if (s.lse != no_step) all.push_back(s.lse);
    return all;
  }

  // One stage for each state: its results share the steps.
  std::map<node_id, scan_stage> scans() const {
    std::map<node_id, scan_stage> by_state;
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (p_[n].kind != op::scan && p_[n].kind != op::last) continue;
      scan_stage &s = by_state[p_[n].in[0]];
      s.carried = p_[n].in[0], s.next = p_[n].in[1];
      s.cores.push_back(n);
    }
    return by_state;
  }

  stages build() {
    std::map<node_id, std::size_t> scan_number;
    std::map<node_id, scan_stage> by_state = scans();
    for (const auto &[state, s] : by_state) scan_number[state] = stage_with(s.cores);
    std::vector<std::size_t> attention_number;
    for (const attention_stage &s : attentions_.stages)
      attention_number.push_back(stage_with(results_of(s)));
    for (auto &[state, s] : by_state) add_scan(std::move(s), scan_number[state]);
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!stored_[n]) continue;
      if (auto it = attentions_.by_core.find(n); it != attentions_.by_core.end()) {
        const attention_stage &s = attentions_.stages[it->second];
        if (s.sums[0].core == n) add_attention(s, attention_number[it->second]);
      } else if (p_[n].kind == op::dot && is_contraction(n)) {
        contraction_stage s = contraction_at(n);
        s.root = extended(n, no_stage);
        made_[s.root] = std::move(s);
      }
    }
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
      if (stored_[n] && !covered_.count(n))
        made_[n] = map_stage{n, is_inlinable(p_, n) || p_[n].kind == op::output ? no_step : n};
    return in_order();
  }

  // The step that a stage stores in place of `from`: what comes after is computed with it.
  node_id extended(node_id from, std::size_t stage) {
    node_id root = epilogue_of(from, stage);
    // Where two stages meet in a step, the first computes it and what comes after.
    for (node_id x = from; x != root && root != from;) {
      x = users_[x][0];
      if (made_.count(x) || covered_.count(x)) root = from;
    }
    for (node_id x = from; x != root;) {
      stored_[x] = false;
      covered_.insert(x = users_[x][0]);
    }
    stored_[root] = true;
    covered_.insert(root);
    if (stage != no_stage) {
      result_of_[root] = stage;
      results_[stage].push_back(root);
    }
    return root;
  }

  void add_scan(scan_stage s, std::size_t number) {
    s.body = scan_body(p_, s.carried, s.next, s.cores);
    // In the order of the roots: a later one may read those before it.
    std::map<node_id, node_id> core_of;
    for (node_id core : s.cores) core_of[extended(core, number)] = core;
    s.cores.clear();
    for (const auto &[root, core] : core_of) s.roots.push_back(root), s.cores.push_back(core);
    const node_id first = s.roots[0];
    made_[first] = std::move(s);
  }

  void add_attention(attention_stage s, std::size_t number) {
    if (s.keeps_sums()) side_by_side_.insert(number);
    for (weighted_sum &sum : s.sums) sum.root = extended(sum.core, number);
    for (weighted_sum &sum : s.placed) sum.root = extended(sum.core, number);
    for (weighted_sum &sum : s.at_pairs) sum.root = extended(sum.core, number);
    for (attention_stage &x : s.across)
      for (weighted_sum &sum : x.sums) sum.root = extended(sum.core, number);
    if (s.lse != no_step) s.lse_root = extended(s.lse, number);
    const node_id first = s.sums[0].root;
    made_[first] = std::move(s);
  }

  stages in_order() const {
    stages result;
    for (const auto &[root, s] : made_) result.list.push_back(s);
    result.stored_by.assign(p_.nodes.size(), -1);
    std::sort(result.list.begin(), result.list.end(),
              [](const stage &a, const stage &b) { return roots_of(a)[0] < roots_of(b)[0]; });
    order(result);
    for (std::size_t k = 0; k < result.list.size(); ++k)
      for (node_id r : roots_of(result.list[k])) result.stored_by[r] = static_cast<int>(k);
    return result;
  }

  // An epilogue may read what a later core computes: sort by need.
  void order(stages &result) const {
    std::map<node_id, std::size_t> by_root;
    for (std::size_t k = 0; k < result.list.size(); ++k)
      for (node_id r : roots_of(result.list[k])) by_root[r] = k;
    std::vector<stage> sorted;
    std::vector<bool> done(result.list.size(), false), open(result.list.size(), false);
    std::function<void(std::size_t)> visit = [&](std::size_t k) {
      if (done[k]) return;
      if (open[k]) throw std::logic_error(p_.name + ": two stages wait for each other");
      open[k] = true;
      std::set<node_id> seen;
      for (node_id r : roots_of(result.list[k]))
        for (node_id operand : p_[r].in)
          walk(
              p_, operand,
              [&](node_id n) {
                auto it = by_root.find(n);
                if (it != by_root.end() && it->second != k) {
                  visit(it->second);
                  return false;
                }
                return true;
              },
              seen);
      sorted.push_back(result.list[k]);
      done[k] = true;
    };
    for (std::size_t k = 0; k < result.list.size(); ++k) visit(k);
    result.list = std::move(sorted);
  }

  // True if registers hold a tile of the result. Otherwise the step is a map: where both operands
  // have gaps, which panels of the right one would lose; and where every number of the larger
  // operand is used once, so that panels cost more than they save (a param is packed beforehand),
  // or once for each of perhaps few batch entries, beside other ones in memory (a matrix for each
  // channel).
  bool is_contraction(node_id n) const {
    const node &d = p_[n];
    if (has_gaps_[d.in[0]] && has_gaps_[d.in[1]]) return false;
    const contraction_stage s = contraction_at(n);
    if (s.column == no_axis || (s.row == no_axis && p_[s.right].kind != op::param)) return false;
    const bool is_of_batch = p_.axes[s.column].batch && static_size(p_, s.column) < 0;
    return !is_of_batch || !has(s.outer, p_[s.left].shape.back());
  }

  // True if it reads a number of the operand more than once.
  bool reads_again(node_id contraction, node_id operand) const {
    const node &d = p_[contraction];
    return is_contraction(contraction) || !same_set(with(d.shape, d.over), p_[operand].shape);
  }

  // True for the right operand, which is packed: a param, or a matrix beside rows of features as
  // they lie in memory; or columns as they lie in memory, where the other operand has such rows.
  bool is_right(node_id n, node_id beside, const std::vector<axis_id> &over) const {
    if (p_[beside].kind == op::param) return false;
    if (p_[n].kind == op::param) return true;
    if (!has(over, p_[beside].shape.back())) return false;
    return !has(over, p_[n].shape.back()) ||
           (growing_axes(p_, n) == 0 && growing_axes(p_, beside) > 0);
  }

  contraction_stage contraction_at(node_id n) const {
    const node &d = p_[n];
    contraction_stage s;
    s.core = n;
    const bool swap =
        has_gaps_[d.in[1]] || (is_right(d.in[0], d.in[1], d.over) && !has_gaps_[d.in[0]]);
    s.left = d.in[swap ? 1 : 0];
    s.right = d.in[swap ? 0 : 1];
    s.row = row_of(p_, without(p_[s.left].shape, d.over), p_[s.right].shape);
    s.column = last_of(without(p_[s.right].shape, d.over), p_[s.left].shape);
    s.outer = without(d.shape, {s.row, s.column});
    return s;
  }

  const program &p_;
  std::vector<std::vector<node_id>> users_;
  std::vector<bool> masked_, has_gaps_, may_be_empty_;
  std::vector<axis_id> walked_;
  const attentions attentions_;
  const std::vector<bool> layers_of_pairs_;
  std::vector<bool> row_steps_;
  std::vector<bool> stored_;
  std::map<node_id, stage> made_;  // by the first root
  std::set<node_id> covered_;      // roots, and what is computed before them in their stages
  std::vector<std::vector<node_id>> results_;  // of each stage of several, with what comes after
  std::vector<std::size_t> result_of_;         // per step: which of them gives it
  std::set<std::size_t> side_by_side_;         // those that keep their sums
};

}  // namespace

stages cut_into_stages(const program &p) { return cutter(p).run(); }

stage stored_product(const program &p, node_id n) { return cutter(p).product(n); }

}  // namespace qkv::codegen
