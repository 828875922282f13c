// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/weight_slips.hpp"

#include <algorithm>
#include <set>

#include "codegen/program/queries.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/signs.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class weight_finder : slip_finder {
 public:
  explicit weight_finder(const program &p)
      : slip_finder(p), positions_(steps_of_positions(p)), signs_(signs_of(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!p_[n].name.empty()) continue;
      if (p_[n].kind == op::mean) averaged(n);
      if (p_[n].kind == op::sum) entropy(n);
      if (p_[n].kind == op::div) divided_by_logarithm(n);
      if (p_[n].kind == op::logsumexp) of_logarithms(n);
      if (p_[n].kind == op::cast && p_[n].type == i32) below_one(n);
      if (p_[n].kind == op::log) of_negative(n);
      if (p_[n].kind == op::softmax) of_exponentials(n);
      if (p_[n].kind == op::normalize) normalised_twice(n, p_[n].in[0], p_[n].over);
      if (p_[n].kind == op::div) normalised_by_sum(n, p_[n].in[0], inner_of(p_, p_[n].in[1]));
      for (const std::size_t k : {0, 1}) {
        if (p_[n].kind == op::dot && weighs(p_[n].in[k], p_[n].in[1 - k])) {
          logarithms(n, inner_of(p_, p_[n].in[k]));
          lowered_weights(n, inner_of(p_, p_[n].in[k]));
          subtracted_scores(n, inner_of(p_, p_[n].in[k]));
          biased_scores(n, inner_of(p_, p_[n].in[k]));
        }
        if (p_[n].kind == op::add || p_[n].kind == op::sub)
          beside_scores(n, p_[n].in[k], p_[n].in[1 - k]);
      }
    }
    return std::move(slips_);
  }

 private:
  // normalize<input>(softmax<input>(scores) + 1e-8)
  void normalised_twice(node_id n, node_id weights, const std::vector<axis_id> &over) {
    weights = without_number(weights);
    if (!is(op::softmax, weights) || !same_set(p_[weights].over, over)) return;
    say(n, "the sum of {} over {} is 1 already; did you mean softmax over another axis?",
        written_as(p_, weights), names_of(p_, over));
  }
  // dot<input>(share / sum<input>(share), V), where share is softmax<input>(scores)
  void normalised_by_sum(node_id n, node_id weights, node_id sum) {
    sum = without_number(sum);
    if (!is(op::sum, sum) || without_number(p_[sum].in[0]) != without_number(weights)) return;
    const bool is_contracted = std::any_of(users_[n].begin(), users_[n].end(), [&](node_id user) {
      return is(op::dot, user) && same_set(p_[user].over, p_[sum].over);
    });
    if (is_contracted) normalised_twice(n, weights, p_[sum].over);
  }
  // The other term of a sum with a number.
  node_id without_number(node_id n) const {
    n = inner_of(p_, n);
    if (is(op::add, n))
      for (const std::size_t k : {0, 1})
        if (is_number(p_, inner_of(p_, p_[n].in[k]))) return inner_of(p_, p_[n].in[1 - k]);
    return n;
  }

  // dot<kv>(softmax<kv>(dot<d_k>(Q1, K1) - lambda * dot<d_k>(Q2, K2)), V)
  void subtracted_scores(node_id n, node_id weights) {
    if (!is(op::softmax, weights) || !same_set(p_[weights].over, p_[n].over)) return;
    const node_id difference = unmasked(p_, p_[weights].in[0]);
    if (!is(op::sub, difference)) return;
    const node_id first = product_of(p_[difference].in[0], p_[n].over),
                  second = product_of(p_[difference].in[1], p_[n].over);
    if (first == second || first < 0 || second < 0 || !same_set(p_[first].shape, p_[second].shape))
      return;
    // without a factor: the real part of complex products, a Lorentz product
    const node_id other = inner_of(p_, p_[difference].in[1]);
    const bool is_masked_product =
        is(op::mask, other) && without_scale(p_, unmasked(p_, other)).of == second;
    if (other == second || is_masked_product) return;
    say(weights,
        "scores {} are subtracted from others; did you mean softmax<{}> of each, and the "
        "difference of the weights?",
        written_as(p_, second), names_of(p_, p_[n].over));
  }
  // The product of queries and keys that scores are made of; -1: none.
  node_id product_of(node_id scores, const std::vector<axis_id> &keys) const {
    scores = inner_of(p_, scores);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      if (is(op::mask, scores)) scores = inner_of(p_, p_[scores].in[0]), goes_on = true;
      if (is(op::mul, scores) || is(op::div, scores))
        for (const std::size_t k : {0, 1})
          if (!goes_on && !varies_along(p_[p_[scores].in[1 - k]], keys) &&
              (k == 0 || is(op::mul, scores)))
            scores = inner_of(p_, p_[scores].in[k]), goes_on = true;
    }
    if (!is(op::dot, scores)) return -1;
    const bool left = varies_along(p_[p_[scores].in[0]], keys),
               right = varies_along(p_[p_[scores].in[1]], keys);
    return left != right ? scores : -1;
  }

  // True for values that have a column: the entropy of weights has none.
  bool weighs(node_id weights, node_id values) const {
    return !contains(p_[weights].shape, p_[values].shape);
  }

  // softmax<kv>(exp(scores))
  void of_exponentials(node_id n) {
    const node_id e = inner_of(p_, p_[n].in[0]);
    if (!is(op::exp, e)) return;
    const std::string over = names_of(p_, p_[n].over);
    say(n, "softmax takes exponentials itself; did you mean softmax<{}>({}) or normalize<{}>({})?",
        over, written_as(p_, p_[e].in[0]), over, written_as(p_, e));
  }

  // dot<kv>(where(keep, softmax<kv>(scores), -1e9), V)
  void lowered_weights(node_id n, node_id choice) {
    if (!is(op::where, choice)) return;
    for (const std::size_t k : {1, 2}) {
      const node_id w = inner_of(p_, p_[choice].in[k]);
      const node_id number = unconverted(p_, p_[choice].in[3 - k]);
      if (!makes_weights(p_[w].kind) || !same_set(p_[w].over, p_[n].over)) continue;
      if (!is_number(p_, number) || p_[number].value > -leaves_nothing_of_scores) continue;
      say(n, "hidden keys have the weight {:g}, not 0; did you mean the {} of mask({}, ..)?",
          p_[number].value, name_of(p_[w].kind), written_as(p_, p_[w].in[0]));
    }
  }

  // x - logsumexp<kv>(x)
  bool are_logarithms(node_id n, const std::vector<axis_id> &over) const {
    if (!is(op::sub, n)) return false;
    const node_id total = unconverted(p_, p_[n].in[1]);
    return p_[total].kind == op::logsumexp && same_set(p_[total].over, over) &&
           unconverted(p_, p_[n].in[0]) == unconverted(p_, p_[total].in[0]);
  }

  // dot<kv>(scores - logsumexp<kv>(scores), V)
  void logarithms(node_id n, node_id w) {
    if (!are_logarithms(w, p_[n].over)) return;
    say(n, "{0} are logarithms of weights; did you mean exp({0})?", written_as(p_, w));
  }

  // dot<kv>(dot<d_k>(Q, K) + relative_bias<seq, kv, distances>(table), V)
  void biased_scores(node_id n, node_id w) {
    if (!is(op::add, w)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id bias = inner_of(p_, p_[w].in[1 - k]);
      if (!is(op::dot, unscaled(p_, p_[w].in[k])) || !is(op::take, bias)) continue;
      const node_id position = p_[bias].in[1];
      if (!positions_[position] || !varies_along(p_[position], p_[n].over)) continue;
      say(n,
          "{} has a bias of scores, but no softmax takes it; did you mean softmax<{}>(..) of it?",
          written_as(p_, w), names_of(p_, p_[n].over));
      return;
    }
  }

  // mean<kv>(softmax<kv>(scores) * V), mean<kv>(softmax<kv>(scores))
  void averaged(node_id n) {
    const node_id product = inner_of(p_, p_[n].in[0]);
    if (is(op::softmax, product) && same_set(p_[product].over, p_[n].over))
      say(n, "{} adds up to 1 always; did you mean another axis?", written_as(p_, product));
    if (!is(op::mul, product)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id w = inner_of(p_, p_[product].in[k]);
      if (!makes_weights(p_[w].kind) || !p_[w].name.empty()) continue;
      if (!same_set(p_[w].over, p_[n].over)) continue;
      say(n, "{0} adds up to 1 already; did you mean dot<{1}>({0}, {2})?", written_as(p_, w),
          names_of(p_, p_[n].over), written_as(p_, inner_of(p_, p_[product].in[1 - k])));
      return;
    }
  }

  // -sum<seq>(w * log(w)) of weights over kv
  void entropy(node_id n) {
    const node_id product = inner_of(p_, p_[n].in[0]);
    if (!is(op::mul, product)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id w = inner_of(p_, p_[product].in[k]), log = inner_of(p_, p_[product].in[1 - k]);
      if (!makes_weights(p_[w].kind) || !is(op::log, log) || !has_term(p_[log].in[0], w)) continue;
      if (contains(p_[n].over, p_[w].over)) continue;
      say(n, "{0} are weights over {1}; did you mean sum<{1}>({2})?", written_as(p_, w),
          names_of(p_, p_[w].over), written_as(p_, product));
      return;
    }
  }
  // w, or w + 1e-9
  bool has_term(node_id n, node_id w) const {
    n = inner_of(p_, n);
    return n == w || ((is(op::add, n) || is(op::max, n)) &&
                      (inner_of(p_, p_[n].in[0]) == w || inner_of(p_, p_[n].in[1]) == w));
  }

  // logits / logsumexp<vocab>(logits)
  void divided_by_logarithm(node_id n) {
    const node_id total = unconverted(p_, p_[n].in[1]);
    if (!is(op::logsumexp, total)) return;
    if (unconverted(p_, p_[n].in[0]) == unconverted(p_, p_[total].in[0]))
      say(n, "{0} is a logarithm; did you mean - {0}?", written_as(p_, total));
  }
  // logsumexp<vocab>(logits - logsumexp<vocab>(logits))
  void of_logarithms(node_id n) {
    const node_id x = unconverted(p_, p_[n].in[0]);
    if (are_logarithms(x, p_[n].over))
      say(n, "is 0 always, as {} are logarithms of weights; did you mean {}?", written_as(p_, x),
          written_as(p_, unconverted(p_, p_[x].in[1])));
  }

  // cast<i32>(softmax<kv>(scores))
  void below_one(node_id n) {
    const node_id x = unconverted(p_, p_[n].in[0]);
    if (is(op::softmax, x) || is(op::sigmoid, x))
      say(n, "{} is rarely 1, and less becomes 0; did you mean to multiply it first?",
          written_as(p_, x));
  }

  // log(log(uniform<seq>(seed)))
  void of_negative(node_id n) {
    const node_id x = unconverted(p_, p_[n].in[0]);
    if (signs_[x] == sign::not_positive && !is_number(p_, x))
      say(n, "{0} is never positive; did you mean -{0}?", written_as(p_, x));
  }

  // softmax<kv>(first) - 0.5 * dot<d_k>(R, K)
  void beside_scores(node_id n, node_id weights, node_id scores) {
    weights = unscaled(p_, weights), scores = unscaled(p_, scores);
    if (!is(op::softmax, weights) || !is(op::dot, scores)) return;
    if (!varies_along(p_[scores], p_[weights].over) || !same_set(p_[weights].shape, p_[n].shape))
      return;
    if (depends_on(p_, scores, [&](node_id m) { return makes_weights(p_[m].kind); })) return;
    say(n, "{1} are scores beside the weights {0}; did you mean softmax<{2}>({1})?",
        written_as(p_, weights), written_as(p_, scores), names_of(p_, p_[weights].over));
  }

  const std::vector<bool> positions_;
  const std::vector<sign> signs_;
};

}  // namespace

std::vector<slip> weight_slips(const program &p) { return weight_finder(p).run(); }

}  // namespace qkv::codegen
