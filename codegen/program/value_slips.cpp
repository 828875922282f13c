// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/value_slips.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/roots.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class value_finder : slip_finder {
 public:
  explicit value_finder(const program &p) : slip_finder(p) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!p_[n].name.empty()) continue;
      if (p_[n].kind == op::dot)
        for (const std::size_t k : {0, 1}) {
          scaled_weights(n, p_[n].in[k], p_[n].in[1 - k]);
          scaled_values(n, p_[n].in[k], p_[n].in[1 - k]);
        }
      if (p_[n].kind == op::sub) {
        masked_unlike(n), scaled_first(n);
        for (const std::size_t k : {0, 1}) share_as_position(n, p_[n].in[k], p_[n].in[1 - k]);
      }
      if (p_[n].kind == op::log) of_first_position(n);
      if (p_[n].kind == op::softmax) scaled_twice(n), cosines_scaled(n);
      if (p_[n].kind == op::softmax || p_[n].kind == op::logsumexp) nearly_equal(n);
    }
    return std::move(slips_);
  }

 private:
  // log(index(seq)), log(slope * abs(index(seq) - index(kv)))
  void of_first_position(node_id n) {
    const node_id product = inner_of(p_, p_[n].in[0]);
    node_id x = product;
    if (is(op::mul, product))
      for (const node_id operand : p_[product].in)
        if (const node_id factor = inner_of(p_, operand); p_[factor].type == i32) x = factor;
    if (p_[x].type != i32 || !p_[x].name.empty()) return;
    if (!is_first_position(x) && !(is(op::abs, x) && is_distance(p_[x].in[0]))) return;
    bool is_chosen = false;
    walk_users(users_, n, [&](node_id user, node_id) {
      const node &u = p_[user];
      const bool is_of_position = u.kind == op::mask && p_[u.in[1]].shape.size() == 1;
      is_chosen = is_chosen || u.kind == op::where || is_of_position;
      return is_pointwise(p_[user].kind);
    });
    if (is_chosen) return;
    say(n, "is -inf where {} is 0; did you mean log({} + 1)?", written_as(p_, x),
        written_as(p_, product));
  }

  bool is_first_position(node_id x) const {
    const affine at = affine_of(p_, x);
    if (at.form.size() != 1 || at.number != 0) return false;
    const auto &[t, factor] = *at.form.begin();
    return t.what == term::position && factor > 0;
  }
  bool is_distance(node_id x) const {
    const affine at = affine_of(p_, x);
    return at.number == 0 && difference_in(at.form);
  }

  // Weights that add up to 1 over what n contracts, for values with columns.
  bool are_weights(node_id n, node_id weights, node_id values) const {
    return is(op::softmax, weights) && same_set(p_[weights].over, p_[n].over) &&
           !contains(p_[weights].shape, p_[values].shape);
  }

  // A term beside another dot<..>(softmax<..>(..), ..)
  bool is_one_of_shares(node_id n) const {
    return std::any_of(users_[n].begin(), users_[n].end(), [&](node_id user) {
      return is(op::add, user) &&
             std::any_of(p_[user].in.begin(), p_[user].in.end(), [&](node_id m) {
               const node_id other = unscaled(p_, m);
               return other != n && is(op::dot, other) &&
                      std::any_of(p_[other].in.begin(), p_[other].in.end(),
                                  [&](node_id w) { return is(op::softmax, unscaled(p_, w)); });
             });
    });
  }
  // dot<kv>(softmax<kv>(scores) / 0.7, V)
  void scaled_weights(node_id n, node_id weights, node_id values) {
    const scaled_step w = without_scale(p_, weights);
    if (nearly(w.by, 1) || !are_weights(n, w.of, values) || is_one_of_shares(n)) return;
    say(n, "the weights over {} add up to {:.3g}, not 1; did you mean to scale the scores {}?",
        names_of(p_, p_[n].over), w.by, written_as(p_, p_[w.of].in[0]));
  }

  // dot<kv>(softmax<kv>(dot<d_k>(Q, K)), V / sqrt(d_v))
  void scaled_values(node_id n, node_id weights, node_id values) {
    weights = inner_of(p_, weights);
    const scaled_step v = without_scale(p_, values);
    if (v.by >= 1 || !are_weights(n, weights, values)) return;
    const node_id product = unmasked(p_, p_[weights].in[0]);
    if (!is(op::dot, product)) return;
    for (const axis_id a : with(p_[product].over, p_[v.of].shape))
      if (is_root_of(p_, 1 / v.by, a)) {
        const std::string feature = p_.axes[p_[product].over[0]].name;
        say(n,
            "the values are divided by sqrt({}), the scores by nothing; did you mean {} / "
            "sqrt({})?",
            p_.axes[a].name, written_as(p_, product), feature);
        return;
      }
  }

  // The contraction of weights and values in lambda * dot<kv>(weights, V).
  std::optional<node_id> weighted_values(node_id n) const {
    n = inner_of(p_, n);
    if (is(op::mul, n)) {
      const node_id a = inner_of(p_, p_[n].in[0]), b = inner_of(p_, p_[n].in[1]);
      n = is(op::dot, a) ? a : b;
    }
    if (!is(op::dot, n)) return {};
    const bool weighs = std::any_of(p_[n].in.begin(), p_[n].in.end(), [&](node_id w) {
      return is(op::softmax, inner_of(p_, w)) && same_set(p_[inner_of(p_, w)].over, p_[n].over);
    });
    return weighs ? std::optional(n) : std::nullopt;
  }
  node_id weights_of(node_id n) const {
    const node_id first = inner_of(p_, p_[n].in[0]);
    return is(op::softmax, first) ? first : inner_of(p_, p_[n].in[1]);
  }

  // dot<kv>(softmax<kv>(mask(..)), V) - lambda * dot<kv>(softmax<kv>(other), V)
  void masked_unlike(node_id n) {
    const auto a = weighted_values(p_[n].in[0]), b = weighted_values(p_[n].in[1]);
    if (!a || !b || !same_set(p_[*a].over, p_[*b].over)) return;
    const node_id first = weights_of(*a), second = weights_of(*b);
    const std::vector<node_id> of_first = masks_of_weights(p_, first),
                               of_second = masks_of_weights(p_, second);
    if (of_first.empty() == of_second.empty()) return;
    const bool is_first = of_second.empty();
    const std::vector<node_id> &masks = is_first ? of_first : of_second;
    const auto is_secret = [&](node_id condition) {
      return is_causal(p_, condition, p_[*a].over) || axis_of_padding(p_, condition);
    };
    if (unmasked(p_, p_[first].in[0]) == unmasked(p_, p_[second].in[0]) &&
        std::none_of(masks.begin(), masks.end(), is_secret))
      return;  // all less near: what a window leaves out
    say(n, "{} are masked by {}, but {} are not; did you mean to mask both?",
        written_as(p_, is_first ? first : second),
        written_as(p_, is_first ? of_first[0] : of_second[0]),
        written_as(p_, is_first ? second : first));
  }

  // lambda * softmax<kv>(s1) - softmax<kv>(s2)
  void scaled_first(node_id n) {
    const node_id product = inner_of(p_, p_[n].in[0]), second = inner_of(p_, p_[n].in[1]);
    if (!is(op::mul, product) || !is(op::softmax, second)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id first = inner_of(p_, p_[product].in[k]),
                    factor = inner_of(p_, p_[product].in[1 - k]);
      if (!is(op::softmax, first) || !same_set(p_[first].over, p_[second].over)) continue;
      if (is_number(p_, factor) || varies_along(p_[factor], p_[first].over)) continue;
      say(n,
          "{} scales the weights that the others are taken off; did you mean to scale {} in place "
          "of {}?",
          written_as(p_, factor), written_as(p_, second), written_as(p_, first));
      return;
    }
  }

  // index(source) - sigmoid(x)
  void share_as_position(node_id n, node_id position, node_id share) {
    position = unconverted(p_, position), share = inner_of(p_, share);
    if (p_[position].kind != op::index || !is(op::sigmoid, share)) return;
    say(n, "{0} lies between 0 and 1, not between positions of {1}; did you mean size({1}) * {0}?",
        written_as(p_, share), p_.axes[p_[position].over[0]].name);
  }

  // x * rsqrt(sum<d_k>(x * x) + 1e-6), x / sqrt(..)
  bool has_unit_length(node_id n, const std::vector<axis_id> &along) const {
    n = inner_of(p_, n);
    if (!is(op::mul, n) && !is(op::div, n)) return false;
    const op root = p_[n].kind == op::mul ? op::rsqrt : op::sqrt;
    for (const std::size_t k : {0, 1}) {
      const node_id length = inner_of(p_, p_[n].in[1 - k]);
      if (!is(root, length)) continue;
      node_id squares = inner_of(p_, p_[length].in[0]);
      if (is(op::add, squares) || is(op::max, squares))
        squares = inner_of(p_, p_[squares].in[is_number(p_, p_[squares].in[0]) ? 1 : 0]);
      if ((is(op::sum, squares) || is(op::dot, squares)) && same_set(p_[squares].over, along))
        return true;
    }
    return false;
  }

  // A bound of the magnitude of all elements; infinity: none is known.
  double bound_of(node_id n) const {
    const scaled_step s = without_scale(p_, n);
    const node &x = p_[s.of];
    const double none = std::numeric_limits<double>::infinity();
    if (!x.name.empty()) return none;
    if (x.kind == op::tanh || x.kind == op::sigmoid) return std::abs(s.by);
    const node_id product = x.kind == op::sum ? inner_of(p_, x.in[0]) : s.of;
    const bool is_product = x.kind == op::dot || (x.kind == op::sum && is(op::mul, product));
    const bool is_cosine = is_product && has_unit_length(p_[product].in[0], x.over) &&
                           has_unit_length(p_[product].in[1], x.over);
    return is_cosine ? std::abs(s.by) : none;
  }

  // unit_length<d>(Q) . unit_length<d>(K) * tau / sqrt(d)
  void cosines_scaled(node_id n) {
    const scaled_step scores = without_scale(p_, unmasked(p_, p_[n].in[0]));
    if (!is(op::mul, scores.of)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id cosine = inner_of(p_, p_[scores.of].in[k]);
      if (!is_argument(p_[inner_of(p_, p_[scores.of].in[1 - k])]) || !is(op::dot, cosine)) continue;
      const node &x = p_[cosine];
      if (!has_unit_length(x.in[0], x.over) || !has_unit_length(x.in[1], x.over)) continue;
      if (x.over.size() == 1 && is_root_of(p_, 1 / scores.by, x.over[0]))
        say(n,
            "cosines are divided by sqrt({}), which is for products; did you mean {} without it?",
            p_.axes[x.over[0]].name, written_as(p_, scores.of));
    }
  }

  // softmax<kv>(dot<d_k>(unit_length(Q), unit_length(K)) / sqrt(d_k)), or of tanh(s * 50) / 50
  void nearly_equal(node_id n) {
    constexpr double least_bound = 0.5;
    const node_id scores = unmasked(p_, p_[n].in[0]);
    const double bound = bound_of(scores);
    if (bound >= least_bound) return;
    say(n,
        "the scores {} lie between {:.2g} and {:.2g}, so that all weights are nearly equal; did "
        "you mean to multiply them?",
        written_as(p_, scores), -bound, bound);
  }

  // dot<d_k>(Q * 0.125, K) / sqrt(d_k), where d_k has 64 elements
  void scaled_twice(node_id n) {
    const scaled_step scores = without_scale(p_, unmasked(p_, p_[n].in[0]));
    if (!is(op::dot, scores.of) || p_[scores.of].over.size() != 1 || scores.by >= 1) return;
    const axis_id contracted = p_[scores.of].over[0];
    if (!is_root_of(p_, 1 / scores.by, contracted)) return;
    for (const node_id operand : p_[scores.of].in) {
      const scaled_step x = without_scale(p_, operand);
      if (x.by >= 1 || !is_root_of(p_, 1 / x.by, contracted)) continue;
      say(n,
          "the scores are divided by the root of {0} twice, in {1} and after the product; did you "
          "mean once?",
          p_.axes[contracted].name, written_as(p_, operand));
      return;
    }
  }
};

}  // namespace

std::vector<slip> value_slips(const program &p) { return value_finder(p).run(); }

}  // namespace qkv::codegen
