// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/term_slips.hpp"

#include <algorithm>
#include <set>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/signs.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class term_finder : slip_finder {
 public:
  explicit term_finder(const program &p) : slip_finder(p), signs_(signs_of(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!p_[n].name.empty()) continue;
      if (p_[n].kind == op::softmax) cancelled(n);
      if (makes_weights(p_[n].kind) && p_[n].over.size() > 1) constant_parts(n, p_[n].in[0]);
      if (p_[n].kind == op::add || p_[n].kind == op::sub) favours_distance(n);
      if (p_[n].kind == op::add) added_twice(n), same_half(n);
      if (p_[n].kind == op::sub) less_itself(n);
      if (p_[n].kind == op::sigmoid) adds_log_of_keys(n);
    }
    return std::move(slips_);
  }

 private:
  // softmax<kv>(dot<hidden>(broadcast<kv>(q) + broadcast<seq>(k), v)): without tanh, the query
  // cancels.
  void cancelled(node_id softmax) {
    node_id n = p_[softmax].in[0];
    while (p_[n].name.empty() && p_[n].kind != op::dot && is_linear(n)) n = p_[n].in[0];
    if (p_[n].kind != op::dot || !p_[n].name.empty()) return;
    const std::vector<axis_id> &keys = p_[softmax].over;
    for (const std::size_t k : {0, 1})
      if (!varies_along(p_[p_[n].in[1 - k]], keys)) cancelled_below(softmax, n, p_[n].in[k]);
  }
  void cancelled_below(node_id softmax, node_id dot, node_id n) {
    const node &x = p_[n];
    if (!x.name.empty()) return;
    if (const node_id term = unconverted(p_, n); !varies(term, p_[softmax].over)) {
      say(softmax, "{} of {} does not vary along {} and cancels; did you {}?", written_as(p_, n),
          written_as(p_, dot), names_of(p_, p_[softmax].over),
          p_[term].kind == op::tanh ? "mean one tanh of the sum" : "leave out tanh");
      return;
    }
    if (x.kind == op::add || x.kind == op::sub)
      for (node_id term : x.in) cancelled_below(softmax, dot, term);
    else if (is_linear(n))
      cancelled_below(softmax, dot, x.in[0]);
  }

  // Of a step that views and pointwise steps repeat, too.
  bool varies(node_id n, const std::vector<axis_id> &along) const {
    n = unconverted(p_, n);
    if (!p_[n].name.empty() || !is_pointwise(p_[n].kind)) return varies_along(p_[n], along);
    return std::any_of(p_[n].in.begin(), p_[n].in.end(),
                       [&](node_id m) { return varies(m, along); });
  }

  // softmax<row, column>(scores + bias), where the bias has neither axis. Of a single axis, types
  // know.
  void constant_parts(node_id weights, node_id n) {
    const node &x = p_[n];
    if (!x.name.empty()) return;
    const std::vector<axis_id> &over = p_[weights].over;
    const auto varies = [&](node_id m) { return varies_along(p_[unconverted(p_, m)], over); };
    const bool is_sum = x.kind == op::add || x.kind == op::sub;
    if (is_sum && p_[weights].kind == op::softmax)
      for (node_id term : x.in) {
        if (!varies(term) && !is_number(p_, inner_of(p_, term)))
          say(weights, "{} does not vary along {} and cancels; leave it out", written_as(p_, term),
              names_of(p_, over));
        constant_parts(weights, term);
      }
    if (x.kind != op::mask) return;
    if (!varies(x.in[1]))
      say(weights,
          "{} does not vary along {}, so that it empties whole rows; did you mean "
          "mask_rows(scores, keep)?",
          written_as(p_, x.in[1]), names_of(p_, over));
    constant_parts(weights, x.in[0]);
  }

  // Of its first operand.
  bool is_linear(node_id n) const {
    const op k = p_[n].kind;
    const bool scales = (k == op::mul || k == op::div) && p_[p_[n].in[1]].shape.empty();
    return scales || k == op::neg || k == op::mask;
  }

  // scores + slope * (index(seq) - index(kv)), for softmax<kv>.
  void favours_distance(node_id n) {
    const node &x = p_[n];
    for (const std::size_t k : {0, 1}) {
      const node_id term = x.in[k];
      if (p_[term].kind != op::mul || !p_[term].name.empty()) continue;
      if (is_number(p_, inner_of(p_, x.in[1 - k]))) continue;  // 1 / (1 + distance)
      for (const std::size_t slope : {0, 1}) {
        const node_id by = p_[term].in[slope];
        if (signs_[by] != sign::not_negative || (is_number(p_, by) && p_[by].value == 0)) continue;
        const bool is_subtracted = x.kind == op::sub && k == 1;
        const node_id distance = inner_of(p_, p_[term].in[1 - slope]);
        const bool is_to_all = is(op::abs, distance);
        const node_id difference = is_to_all ? inner_of(p_, p_[distance].in[0]) : distance;
        const auto d = difference_in(affine_of(p_, difference).form);
        if (!d) continue;
        const std::vector<axis_id> keys = keys_of_scores(p_, users_, n);
        const bool grows = is_to_all
                               ? !is_subtracted && (has(keys, d->first) || has(keys, d->second))
                               : has(keys, is_subtracted ? d->first : d->second);
        if (!grows) continue;
        say(n, "{} grows with the distance of a key{}; did you mean {} it?", written_as(p_, term),
            is_to_all ? "" : " before the query", is_subtracted ? "to add" : "to subtract");
      }
    }
  }

  bool is_sum(node_id n) const { return p_[n].kind == op::add && p_[n].name.empty(); }

  // X + attended + X: a residual is added once. X + X alone is 2 X.
  void added_twice(node_id n) {
    const auto is_part = [&](node_id m) { return is_sum(m); };
    if (std::any_of(users_[n].begin(), users_[n].end(), is_part)) return;
    if (std::none_of(p_[n].in.begin(), p_[n].in.end(), is_part)) return;
    std::set<node_id> seen;
    const node_id twice = repeated_in(n, seen);
    if (twice >= 0) say(n, "{0} is added twice; if it is meant, 2 * {0}", written_as(p_, twice));
  }
  // The first tensor that a sum meets again, a term or a part of it; -1: none.
  node_id repeated_in(node_id n, std::set<node_id> &seen) const {
    if (!seen.insert(n).second) return p_[n].shape.empty() ? -1 : n;
    if (!is_sum(n)) return -1;
    for (node_id term : p_[n].in)
      if (const node_id twice = repeated_in(term, seen); twice >= 0) return twice;
    return -1;
  }

  // mean<image>(logsumexp<text>(s) - own) + mean<image>(logsumexp<text>(s)) - mean<image>(own)
  void same_half(node_id n) {
    const node_id total = total_of(p_[n].in[0]);
    if (total < 0 || total != total_of(p_[n].in[1])) return;
    const std::vector<axis_id> others =
        without(p_[inner_of(p_, p_[total].in[0])].shape, p_[total].over);
    if (p_[total].over.size() != 1 || others.size() != 1) return;
    say(n, "both halves have {}; did you mean logsumexp<{}> in one of them?", written_as(p_, total),
        names_of(p_, others));
  }
  // The logsumexp whose mean, less something, this is; -1: none.
  node_id total_of(node_id n) const {
    n = inner_of(p_, n);
    while (is(op::mean, n) || is(op::sub, n)) n = inner_of(p_, p_[n].in[0]);
    return is(op::logsumexp, n) ? n : -1;
  }

  // softmax<kv>(s1) - 0.8 * softmax<kv>(s1)
  void less_itself(node_id n) {
    const node_id weights = inner_of(p_, p_[n].in[0]);
    const bool is_result = makes_weights(p_[weights].kind) || p_[weights].kind == op::dot;
    if (!is_result || unscaled(p_, p_[n].in[1]) != weights) return;
    say(n, "takes a part of {0} off {0} itself; did you mean another one?",
        written_as(p_, weights));
  }

  // sigmoid(scores + log(size(kv))): the weights of n keys would add up to n and more.
  void adds_log_of_keys(node_id sigmoid) {
    std::set<node_id> steps;
    walk(p_, p_[sigmoid].in[0], [&](node_id m) { return is_sum(m); }, steps);
    for (node_id step : steps) {
      const node_id n = inner_of(p_, step);
      if (step != p_[sigmoid].in[0] && is(op::softmax, n))
        say(sigmoid, "{} are weights, not scores; did you mean the sigmoid of {}?",
            written_as(p_, n), written_as(p_, p_[n].in[0]));
      if (p_[n].kind != op::log || !p_[n].name.empty()) continue;
      if (p_[inner_of(p_, p_[n].in[0])].kind != op::size) continue;
      say(sigmoid,
          "{0} is added, so the weights add up to more than the number of keys; did you mean -{0}?",
          written_as(p_, n));
    }
  }

  const std::vector<sign> signs_;
};

}  // namespace

std::vector<slip> term_slips(const program &p) { return term_finder(p).run(); }

}  // namespace qkv::codegen
