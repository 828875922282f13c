// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/attentions.hpp"

#include <functional>
#include <utility>

#include "codegen/plan/pair_features.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {

bool attentions::is_product(node_id n) const {
  return std::any_of(stages.begin(), stages.end(), [&](const attention_stage &s) {
    return std::find(s.products.begin(), s.products.end(), n) != s.products.end();
  });
}

bool attentions::is_lse(node_id n) const {
  return std::any_of(stages.begin(), stages.end(),
                     [&](const attention_stage &s) { return s.lse == n; });
}

namespace {

// Finds the sums that can be streamed. Whether steps per pair need not be stored depends on all
// their users: each sum is first believed to be streamed, until none is refuted.
class finder {
 public:
  explicit finder(const program &p)
      : p_(p), users_(users_of(p)), walked_(walked_axes(p)), gaps_(steps_with_gaps(p)) {}

  // Pairs are placed in the walk of other sums of these; where there is none, they are stored.
  attentions run() {
    for (;;) {
      streamed();
      std::vector<attention_stage> all;
      for (auto &[core, c] : sums_) all.push_back(c.stage);
      all = grouped(p_, std::move(all));
      const auto alone = std::find_if(
          all.begin(), all.end(), [](const attention_stage &s) { return s.sums[0].is_by_pair(); });
      if (alone == all.end()) return described(std::move(all));
      alone_.insert(alone->sums[0].core);
    }
  }

 private:
  void streamed() {
    candidates();
    for (bool changed = true; changed;) {
      changed = false;
      collect_inside();
      collect_outside();
      for (auto it = sums_.begin(); it != sums_.end();) {
        if (is_streamed(it->second)) {
          ++it;
          continue;
        }
        changed = true;
        it = refuted(it);
        collect_outside();
      }
    }
  }

  // A sum that may be streamed.
  struct candidate {
    attention_stage stage;
    int side = 0;            // which operand holds the pairs, in the order of trying
    std::set<node_id> cone;  // the steps recomputed for its pairs, down to contractions
  };
  using candidates_by_core = std::map<node_id, candidate>;

  void candidates() {
    sums_.clear();
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      candidate c;
      const bool fits =
          p_[n].kind == op::put ? places(n, c) : is_at_pairs(n, c) || fits_from(n, 0, c);
      if (fits) sums_.emplace(n, std::move(c));
    }
  }

  // Pairs at positions that none of their products has a part in.
  bool places(node_id core, candidate &c) const {
    const node &x = p_[core];
    const std::vector<axis_id> pairs = p_[x.in[0]].shape,
                               over = without(with(pairs, p_[x.in[1]].shape), x.shape);
    if (over.size() != 2 || !contains(pairs, over) || alone_.count(core) || !is_floating(x.type) ||
        in_scan(core) || !is_inlinable(p_, x.in[0]) || !is_function_of_pairs(x.in[0], over[1]))
      return false;
    std::set<node_id> below;
    walk(x.in[1], [&](node_id n) { return is_inlinable(p_, n); }, below);
    if (std::any_of(below.begin(), below.end(), [&](node_id n) { return p_[n].kind == op::dot; }))
      return false;
    weighted_sum sum;
    sum.core = core, sum.pairs = x.in[0], sum.position = x.in[1], sum.column = x.over[0];
    c.stage.row = over[0], c.stage.key = over[1];
    c.stage.outer = without(x.shape, x.over);
    c.stage.sums = {sum};
    c.cone = cone_of(c.stage);
    return true;
  }

  // A result of the call at each pair: the pairs, or their sum over axes other than row and key.
  bool is_at_pairs(node_id core, candidate &c) const {
    const node &x = p_[core];
    if ((x.kind != op::output && (x.kind != op::sum || !is_output_alone(core))) ||
        alone_.count(core) || !is_floating(x.type) || size_of(x.type) < 4 || in_scan(core))
      return false;
    const node_id pairs = x.in[0];
    if (p_[pairs].type != x.type || !is_inlinable(p_, pairs)) return false;
    const auto [row, key] = axes_of_pair(pairs);
    if (!has(x.shape, row) || !has(x.shape, key) || !is_function_of_pairs(pairs, key)) return false;
    c = {};
    weighted_sum sum;
    sum.core = core, sum.pairs = pairs, sum.is_at_each_pair = true;
    c.stage.row = row, c.stage.key = key;
    c.stage.outer = without(p_[pairs].shape, {row, key});
    c.stage.sums = {sum};
    c.cone = cone_of(c.stage);
    return true;
  }

  bool is_output_alone(node_id n) const {
    return users_[n].size() == 1 && p_[users_[n][0]].kind == op::output &&
           p_[users_[n][0]].type == p_[n].type;
  }

  // The axes of rows that only the left and only the right operand of a product of these pairs has.
  std::pair<axis_id, axis_id> axes_of_pair(node_id pairs) const {
    std::pair<axis_id, axis_id> found = {no_axis, no_axis};
    std::set<node_id> seen;
    walk(
        pairs,
        [&](node_id n) {
          const node &x = p_[n];
          if (x.kind != op::dot) return is_inlinable(p_, n);
          const std::vector<axis_id> &left = p_[x.in[0]].shape, &right = p_[x.in[1]].shape;
          const axis_id row = row_of(p_, left, with(right, x.over)),
                        key = row_of(p_, right, with(left, x.over));
          if (row != no_axis && key != no_axis) found = {row, key};
          return false;
        },
        seen);
    return found;
  }

  // The first match of `core`: `side` 0 or a later one.
  bool fits_from(node_id core, int side, candidate &c) const {
    const node &x = p_[core];
    if ((x.kind != op::dot && x.kind != op::sum) || x.over.size() != 1 || !is_floating(x.type) ||
        in_scan(core))
      return false;
    for (; side < static_cast<int>(x.in.size()); ++side) {
      const std::size_t at = static_cast<std::size_t>(first_side(x) ^ side);
      const node_id values = x.kind == op::dot ? x.in[1 - at] : no_step;
      c = {};
      c.side = side;
      if (!matches(core, x.in[at], values, c.stage)) continue;
      c.cone = cone_of(c.stage);
      return true;
    }
    return false;
  }

  // The operand that is tried as pairs first: the one that grows with pairs if only one does.
  int first_side(const node &x) const {
    return x.in.size() == 2 && grows_with_pairs(p_, x.in[1]) && !grows_with_pairs(p_, x.in[0]);
  }

  candidates_by_core::iterator refuted(candidates_by_core::iterator it) {
    candidate next;
    const int side = it->second.stage.sums[0].is_at_each_pair ? 0 : it->second.side + 1;
    if (p_[it->first].kind != op::put && fits_from(it->first, side, next)) {
      it->second = std::move(next);
      return ++it;
    }
    return sums_.erase(it);
  }

  // The cones, the weights and the logsumexps of the sums that are left.
  void collect_inside() {
    inside_.clear();
    for (auto &[core, c] : sums_) {
      c.stage.lse = no_step;
      inside_.insert(c.cone.begin(), c.cone.end());
      inside_.insert(core);
      if (c.stage.is_normalised()) inside_.insert(c.stage.weights);
    }
    for (auto &[core, c] : sums_) {
      c.stage.lse = lse_of(c.stage);
      if (c.stage.lse != no_step) inside_.insert(c.stage.lse);
    }
  }

  attentions described(std::vector<attention_stage> stages) const {
    attentions found;
    found.taken.resize(p_.nodes.size(), false);
    found.stages = std::move(stages);
    for (std::size_t k = 0; k < found.stages.size(); ++k) {
      const attention_stage &s = found.stages[k];
      for (const weighted_sum &sum : all_sums(s)) {
        found.by_core[sum.core] = k;
        found.taken[sum.core] = true;
      }
      if (s.is_normalised()) found.taken[s.weights] = true;
      for (node_id d : s.products) found.taken[d] = true;
      if (s.lse != no_step) found.taken[s.lse] = true;
    }
    for (const attention_stage &s : found.stages) found.cones.push_back(recomputed(found, s));
    return found;
  }

  std::set<node_id> recomputed(const attentions &found, const attention_stage &s) const {
    std::set<node_id> cone;
    const auto is_inside = [&](node_id n) { return is_inlinable(p_, n) || found.is_product(n); };
    for (const weighted_sum &sum : all_sums(s)) {
      walk(s.is_normalised() ? s.scores : sum.pairs, is_inside, cone);
      for (node_id beside : {sum.gate, sum.position})
        if (beside != no_step) walk(beside, [&](node_id n) { return is_inlinable(p_, n); }, cone);
      if (sum.gate != no_step) cone.insert(sum.pairs);
    }
    return cone;
  }

  void walk(node_id n, const std::function<bool(node_id)> &enter, std::set<node_id> &seen) const {
    codegen::walk(p_, n, enter, seen);
  }

  bool in_scan(node_id n) const { return walked_[n] >= 0; }

  // Weights live in the tiles of the sums that use them, unless something else needs them.
  bool only_for_sums(node_id weights, axis_id key) const {
    const std::vector<axis_id> over = {key};
    return std::all_of(users_[weights].begin(), users_[weights].end(), [&](node_id user) {
      if (opened(user, over).weights == weights) return only_for_sums(user, key);
      return (p_[user].kind == op::dot || p_[user].kind == op::sum) && p_[user].over == over &&
             !in_scan(user) && !weighs_itself(p_[user]);
    });
  }

  // True if all sums that use these weights, or a product with a gate, are streamed and have them
  // as their weights: a sum that is not, or has them as its values, reads them from memory.
  bool weighs_sums(node_id n, const attention_stage &s) const {
    return std::all_of(users_[n].begin(), users_[n].end(), [&](node_id user) {
      if (opened(user, {s.key}).weights == s.weights) return weighs_sums(user, s);
      const auto sum = sums_.find(user);
      return sum != sums_.end() && sum->second.stage.weights == s.weights;
    });
  }

  // True if one side of a dot is an operand of the other in the tile: dot<kv>(w, w).
  bool weighs_itself(const node &dot) const {
    if (dot.kind != op::dot) return false;
    for (const std::size_t side : {0, 1}) {
      std::set<node_id> beside;
      walk(dot.in[1 - side], [&](node_id x) { return is_inlinable(p_, x); }, beside);
      if (beside.count(opened(dot.in[side], dot.over).weights)) return true;
    }
    return false;
  }

  // Weights, and their factor at each pair: w * gate.
  struct gated {
    node_id weights, gate;
  };
  gated opened(node_id n, const std::vector<axis_id> &over) const {
    if (p_[n].kind == op::mul)
      for (const std::size_t side : {0, 1}) {
        const node_id w = p_[n].in[side], gate = p_[n].in[1 - side];
        if (is_weights(w, over) && is_gate_of(w, gate)) return {w, gate};
      }
    return {n, -1};
  }

  // It has no other axes, and is not made of the weights, nor of the logsumexp that their stage
  // ends with.
  bool is_gate_of(node_id w, node_id gate) const {
    if (!without(p_[gate].shape, p_[w].shape).empty()) return false;
    return !depends_on(p_, gate, [&](node_id n) {
      return n == w || (p_[n].kind == op::logsumexp && p_[n].in[0] == p_[w].in[0]);
    });
  }

  bool is_weights(node_id n, const std::vector<axis_id> &over) const {
    return makes_weights(p_[n].kind) && p_[n].over == over;
  }

  // A function of queries and keys, each of which changes with the call: a hidden layer, whose
  // weights are params, is not an attention, nor are scores of heads that are mixed.
  bool is_function_of_pairs(node_id n, axis_id key) const {
    bool pairs = false, others = false;
    const auto look = [&](node_id x) {
      if (p_[x].kind == op::dot && has(p_[x].shape, key) && p_[x].shape.size() > 1) {
        pairs = true;
        for (node_id operand : p_[x].in)
          others |= (is_param(operand) && has(p_[operand].shape, key)) || mixes(x, operand);
      }
      return is_inlinable(p_, x);
    };
    std::set<node_id> seen;
    walk(n, look, seen);
    return pairs && !others;
  }

  // True if a contraction mixes stored pairs, as of heads after a softmax.
  bool mixes(node_id dot, node_id operand) const {
    return p_[operand].kind != op::dot && !is_inlinable(p_, operand) &&
           grows_with_pairs(p_, operand) && grows_with_pairs(p_, dot);
  }

  // Nodes that a view or a gather among these steps reads, at positions other than those of the
  // tile.
  std::set<node_id> seen_elsewhere(const std::set<node_id> &cone) const {
    std::set<node_id> moved;
    for (node_id n : cone) {
      const op k = p_[n].kind;
      if ((is_view(k) && k != op::broadcast) || is_gather(k))
        for (node_id operand : p_[n].in)
          walk(operand, [&](node_id x) { return is_inlinable(p_, x); }, moved);
    }
    return moved;
  }

  bool is_param(node_id n) const {
    return p_[n].kind == op::param || (is_view(p_[n].kind) && is_param(p_[n].in[0]));
  }

  // One number for each row of the result: values may have batch axes that the scores lack.
  bool is_lse_of(const attention_stage &s, node_id n) const {
    const node &x = p_[n];
    return x.kind == op::logsumexp && p_[s.weights].kind == op::softmax &&
           x.over == p_[s.weights].over && x.in[0] == s.scores &&
           same_set(x.shape, without(p_[s.sums[0].core].shape, {s.sums[0].column}));
  }

  // The logsumexp is a result of the first sum that it fits; it must not be an operand of its
  // values.
  node_id lse_of(const attention_stage &s) const {
    if (!s.is_normalised()) return no_step;
    std::set<node_id> before;
    if (s.sums[0].values != no_step) walk(s.sums[0].values, [](node_id) { return true; }, before);
    for (node_id user : users_[s.scores])
      if (is_lse_of(s, user) && !inside_.count(user) && !before.count(user)) return user;
    return no_step;
  }

  // A sum, and the operands that it would have as an attention, whatever other users these have.
  bool matches(node_id core, node_id operand, node_id values, attention_stage &s) const {
    const auto [weights, gate] = opened(operand, p_[core].over);
    const node &w = p_[weights];
    const axis_id key = p_[core].over[0];
    const bool normalised = is_weights(weights, p_[core].over);
    if (normalised ? !only_for_sums(weights, key) : !is_pair_function(core, weights, values, key))
      return false;
    const node_id scores = normalised ? w.in[0] : weights;
    const std::vector<axis_id> &shape = p_[scores].shape;
    if (values != no_step && !has(p_[values].shape, key)) return false;
    // the rows that are NaN become so at their end, for every value
    if (w.less_maximum && ((values != no_step && gaps_[values]) || (gate >= 0 && gaps_[gate])))
      return false;
    weighted_sum sum;
    sum.core = core, sum.pairs = operand, sum.gate = gate, sum.values = values;
    const std::vector<axis_id> shared =
        values == no_step ? axes_of_keys(scores, key) : p_[values].shape;
    s.key = key;
    s.row = row_of(p_, without(shape, {key}), shared);
    if (values != no_step) sum.column = last_of(shared, shape);
    // weights of channels, and values whose channels lie side by side: a contraction reads those
    if (normalised && sum.column != no_axis && shared.back() == key &&
        growing_axes(p_, weights) == 0 && growing_axes(p_, values) > 0)
      return false;
    s.outer = without(p_[core].shape, {s.row, sum.column});
    if (normalised) s.weights = weights, s.scores = scores;
    s.sums = {sum};
    return normalised || s.row != no_axis;
  }

  // The order of contractions that is taken where it is the cheaper one must not take the memory of
  // all pairs.
  bool is_pair_function(node_id core, node_id n, node_id values, axis_id key) const {
    if (values != no_step && is_param(values)) return false;
    return is_function_of_pairs(n, key) &&
           (is_inlinable(p_, n) ||
            (is_one_of_two_orders(p_, users_[core]) && grows_with_pairs(p_, n)));
  }

  // The axes of the operands that vary along the key, of the contractions that these pairs are
  // made of.
  std::vector<axis_id> axes_of_keys(node_id pairs, axis_id key) const {
    std::vector<axis_id> axes;
    std::set<node_id> seen;
    walk(
        pairs,
        [&](node_id n) {
          if (p_[n].kind == op::dot)
            for (node_id operand : p_[n].in)
              if (has(p_[operand].shape, key)) axes = with(axes, p_[operand].shape);
          return is_inlinable(p_, n);
        },
        seen);
    return axes;
  }

  // The walk ends at stored steps; they are not in the cone: a maximum of these very scores, say.
  std::set<node_id> cone_of(const attention_stage &s) const {
    std::set<node_id> cone;
    walk(
        s.is_normalised() ? s.scores : s.sums[0].pairs,
        [&](node_id n) { return is_inlinable(p_, n); }, cone);
    std::erase_if(cone, [&](node_id n) { return !is_inlinable(p_, n) && p_[n].kind != op::dot; });
    return cone;
  }

  // Steps that are recomputed outside of all cones as well, down to their contractions: those that
  // values need, and those that steps outside or contractions need. What one cone finds there is
  // stored, so that no other one may have it in its tiles alone.
  void collect_outside() {
    outside_.clear();
    needed_.clear();
    const auto enter = [&](node_id x) { return is_inlinable(p_, x); };
    for (const auto &[core, c] : sums_) {
      const weighted_sum &sum = c.stage.sums[0];
      if (sum.values != no_step) walk(sum.values, enter, outside_);
      if (sum.gate != no_step) walk(sum.gate, enter, needed_);
      if (sum.is_placed()) walk(sum.position, enter, needed_);
    }
    needed_.insert(outside_.begin(), outside_.end());
    for (const auto &[core, c] : sums_) {
      for (node_id n : seen_elsewhere(c.cone))
        if (!is_inlinable(p_, n)) outside_.insert(n);
      for (node_id n : c.cone) {
        if (p_[n].kind == op::dot && !varies_in_tile(c.stage, n)) walk(n, enter, outside_);
        for (node_id user : users_[n])
          if (!inside_.count(user) || is_contraction(user)) walk(n, enter, outside_);
      }
    }
  }

  // True if a contraction varies along all axes of the tile. One that does not is read from memory,
  // so it must be stored: no other sum may keep it in its tiles alone.
  bool varies_in_tile(const attention_stage &s, node_id dot) const {
    return has(p_[dot].shape, s.key) && (s.row == no_axis || has(p_[dot].shape, s.row));
  }

  // A contraction in a tile, too, reads operands that are stored.
  bool is_contraction(node_id user) const { return p_[user].kind == op::dot && !sums_.count(user); }

  // Contractions that vary along both tile axes and serve only pairs are computed in the tile; what
  // they contract is stored, and so is what that is made of, even if it is a score of the tile,
  // too.
  bool is_streamed(candidate &c) const {
    attention_stage &s = c.stage;
    if (s.is_normalised() && (needed_.count(s.weights) || !weighs_sums(s.weights, s))) return false;
    const std::set<node_id> elsewhere = seen_elsewhere(c.cone);
    const node_id pairs = s.is_normalised() ? s.scores : s.sums[0].pairs;
    const bool fits = !outside_.count(pairs) || is_cheap(p_, pairs);
    s.products.clear();
    std::set<node_id> seen;
    walk(
        pairs,
        [&](node_id n) {
          if (p_[n].kind == op::dot && varies_in_tile(s, n)) {
            if (!outside_.count(n) && !elsewhere.count(n) && !sums_.count(n) &&
                !reads_pairs_again(p_, s, n))
              s.products.push_back(n);
            return false;
          }
          return is_inlinable(p_, n);
        },
        seen);
    return fits && (s.is_normalised() || !s.products.empty());
  }

  const program &p_;
  const std::vector<std::vector<node_id>> users_;
  const std::vector<axis_id> walked_;
  const std::vector<bool> gaps_;
  candidates_by_core sums_;
  std::set<node_id> alone_;    // pairs are put by these, and summed by nothing else
  std::set<node_id> inside_;   // steps of sums
  std::set<node_id> outside_;  // steps of cones that are recomputed elsewhere, too
  std::set<node_id> needed_;   // what values and gates read: weights of another sum, perhaps
};

}  // namespace

attentions find_attentions(const program &p) { return finder(p).run(); }

}  // namespace qkv::codegen
