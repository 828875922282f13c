#include "codegen/plan/attentions.hpp"

#include <functional>
#include <utility>

#include "codegen/program/walk.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"

namespace qkv::codegen {

bool attentions::is_score_dot(node_id n) const {
  return std::any_of(by_core.begin(), by_core.end(), [&](const auto &found) {
    const std::vector<node_id> &dots = found.second.score_dots;
    return std::find(dots.begin(), dots.end(), n) != dots.end();
  });
}

bool attentions::is_lse(node_id n) const {
  return std::any_of(by_core.begin(), by_core.end(),
                     [&](const auto &found) { return found.second.lse == n; });
}

namespace {

class finder {
 public:
  explicit finder(const program &p)
      : p_(p), users_(users_of(p)), walked_(walked_axes(p)), gaps_(steps_with_gaps(p)) {
    found_.taken.resize(p.nodes.size(), false);
  }

  attentions run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (p_[n].kind != op::dot || p_[n].over.size() != 1 || !is_floating(p_[n].type) || in_scan(n))
        continue;
      for (int side : {0, 1}) {
        attention_stage s;
        if (attention_at(n, p_[n].in[side], p_[n].in[1 - side], s)) {
          found_.by_core[n] = s;
          found_.taken[n] = true;
          if (s.weights >= 0) found_.taken[s.weights] = true;
          for (node_id d : s.score_dots) found_.taken[d] = true;
          if (s.lse >= 0) found_.taken[s.lse] = true;
          break;
        }
      }
    }
    for (const auto &[core, s] : found_.by_core) {
      std::set<node_id> &cone = found_.cones[core];
      walk(
          s.scores, [&](node_id n) { return is_inlinable(p_, n) || found_.is_score_dot(n); }, cone);
      if (s.gate < 0) continue;
      walk(s.gate, [&](node_id n) { return is_inlinable(p_, n); }, cone);
      for (node_id operand : p_[core].in)
        if (opened(operand, p_[core].over).gate == s.gate) cone.insert(operand);
    }
    return std::move(found_);
  }

 private:
  void walk(node_id n, const std::function<bool(node_id)> &enter, std::set<node_id> &seen) const {
    codegen::walk(p_, n, enter, seen);
  }

  bool in_scan(node_id n) const { return walked_[n] >= 0; }

  // Weights live in the tiles of the dots that use them, each of which computes them anew, unless something else wants them.
  bool only_for_dots(node_id weights, axis_id key) const {
    const std::vector<axis_id> over = {key};
    return std::all_of(users_[weights].begin(), users_[weights].end(), [&](node_id user) {
      if (opened(user, over).weights == weights) return only_for_dots(user, key);
      return p_[user].kind == op::dot && p_[user].over == over && !in_scan(user) &&
             !weighs_itself(p_[user]);
    });
  }

  // True if one side of a dot is an operand of the other in the tile: dot<kv>(w, w).
  bool weighs_itself(const node &dot) const {
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

  // It has no other axes, and is not made of the weights, nor of the logsumexp that their stage ends with.
  bool is_gate_of(node_id w, node_id gate) const {
    if (!without(p_[gate].shape, p_[w].shape).empty()) return false;
    std::set<node_id> below;
    walk(gate, [](node_id) { return true; }, below);
    return std::none_of(below.begin(), below.end(), [&](node_id n) {
      return n == w || (p_[n].kind == op::logsumexp && p_[n].in[0] == p_[w].in[0]);
    });
  }

  bool is_weights(node_id n, const std::vector<axis_id> &over) const {
    return makes_weights(p_[n].kind) && p_[n].over == over;
  }

  // A function of queries and keys, each of which changes with the call: a hidden layer, whose
  // weights are params, is not an attention.
  bool is_function_of_pairs(node_id n, axis_id key) const {
    bool pairs = false, params = false;
    std::set<node_id> seen;
    walk(
        n,
        [&](node_id x) {
          if (p_[x].kind == op::dot && has(p_[x].shape, key) && p_[x].shape.size() > 1) {
            for (node_id operand : p_[x].in)
              params = params || (is_param(operand) && has(p_[operand].shape, key));
            pairs = true;
          }
          return is_inlinable(p_, x);
        },
        seen);
    return pairs && !params;
  }

  // The order of contractions that is taken where it is the cheaper one must not take the memory of all pairs.
  bool is_one_of_two_orders(node_id core) const {
    return std::any_of(users_[core].begin(), users_[core].end(),
                       [&](node_id user) { return is_alternative(p_, p_[user]); });
  }

  bool grows_with_pairs(node_id n) const {
    return std::count_if(p_[n].shape.begin(), p_[n].shape.end(), [&](axis_id a) {
             return p_.axes[p_.axes[a].root].size < 0 && !p_.axes[a].batch;
           }) > 1;
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
    return x.kind == op::logsumexp && s.weights != no_step && p_[s.weights].kind == op::softmax &&
           x.over == p_[s.weights].over && x.in[0] == s.scores &&
           same_set(x.shape, without(p_[s.core].shape, {s.column}));
  }

  node_id lse_of(const attention_stage &s) const {
    std::set<node_id> before;  // operands of the values: not results of the stage
    walk(s.values, [](node_id) { return true; }, before);
    for (node_id user : users_[s.scores])
      if (is_lse_of(s, user) && !found_.taken[user] && !before.count(user)) return user;
    return no_step;
  }

  bool attention_at(node_id core, node_id operand, node_id values, attention_stage &s) const {
    const auto [weights, gate] = opened(operand, p_[core].over);
    const node &w = p_[weights];
    const axis_id key = p_[core].over[0];
    const bool normalised = is_weights(weights, p_[core].over);
    if (!only_for_dots(weights, key)) return false;
    if (!normalised &&
        (is_param(values) || !is_function_of_pairs(weights, key) ||
         !(is_inlinable(p_, weights) || (is_one_of_two_orders(core) && grows_with_pairs(weights)))))
      return false;
    const node_id scores = normalised ? w.in[0] : weights;
    const std::vector<axis_id> &shape = p_[scores].shape;
    if (!has(p_[values].shape, key)) return false;
    // the rows that are NaN become so at their end, for every value
    if (w.less_maximum && (gaps_[values] || (gate >= 0 && gaps_[gate]))) return false;

    s.core = core, s.weights = normalised ? weights : -1, s.gate = gate;
    s.scores = scores, s.values = values, s.key = key;
    std::vector<axis_id> shared = p_[values].shape;
    s.row = last_of(without(shape, {key}), shared);
    s.column = last_of(shared, shape);
    s.outer = without(p_[core].shape, {s.row, s.column});
    if (!normalised && s.row == no_axis) return false;

    s.lse = lse_of(s);
    // contractions that vary along both tile axes and serve only these scores live in the tile; what
    // they contract is stored, and so is what that is made of, even if it is a score of the tile, too
    std::set<node_id> cone;
    walk(scores, [&](node_id n) { return is_inlinable(p_, n); }, cone);
    // the walk ends at stored steps; they are not in the cone: a maximum of these very scores, say
    std::erase_if(cone, [&](node_id n) { return !is_inlinable(p_, n) && p_[n].kind != op::dot; });
    // operands of steps outside the cone are recomputed there as well, down to their contractions
    std::set<node_id> outside;
    walk(values, [&](node_id x) { return is_inlinable(p_, x); }, outside);
    if (normalised && outside.count(weights)) return false;  // the values depend on the weights
    for (node_id n : cone)
      for (node_id user : users_[n])
        if (!cone.count(user) && user != weights && user != core && user != s.lse &&
            !(found_.taken[user] && is_lse_of(s, user)))
          walk(n, [&](node_id x) { return is_inlinable(p_, x); }, outside);
    auto serves_only_scores = [&](node_id n) { return !outside.count(n); };
    const std::set<node_id> elsewhere = seen_elsewhere(cone);
    std::set<node_id> seen;
    bool fits = serves_only_scores(scores) || is_cheap(p_, scores);
    walk(
        scores,
        [&](node_id n) {
          if (p_[n].kind == op::dot && has(p_[n].shape, key) &&
              (s.row == no_axis || has(p_[n].shape, s.row))) {
            if (serves_only_scores(n) && !elsewhere.count(n) && !found_.by_core.count(n))
              s.score_dots.push_back(n);
            return false;
          }
          return is_inlinable(p_, n);
        },
        seen);
    return fits && (normalised || !s.score_dots.empty());
  }

  const program &p_;
  const std::vector<std::vector<node_id>> users_;
  const std::vector<axis_id> walked_;
  const std::vector<bool> gaps_;
  attentions found_;
};

}  // namespace

attentions find_attentions(const program &p) { return finder(p).run(); }

}  // namespace qkv::codegen
