// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/flow_slips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/projections.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class flow_finder : slip_finder {
 public:
  explicit flow_finder(const program &p) : slip_finder(p) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (is(op::softmax, n)) into_weights(n);
      if (is(op::take, n)) first_as_summary(n);
      if (is(op::add, n)) past_a_layer(n), beside_a_norm(n), norm_carried_on(n);
      if (is(op::dot, n)) normalised_once(n);
      if (is(op::scan, n)) into_scan(n);
    }
    return std::move(slips_);
  }

 private:
  template <class... T>
  void say_once(node_id n, fmt::format_string<T...> text, T &&...values) {
    if (said_.insert(n).second) say(n, text, std::forward<T>(values)...);
  }
  node_id inner(node_id n, std::size_t operand) const { return inner_of(p_, p_[n].in[operand]); }

  // The condition of a mask that hides keys after their query.
  std::optional<node_id> causal_mask_of(node_id weights) const {
    for (const node_id condition : masks_of_weights(p_, weights))
      if (is_causal(p_, condition, p_[weights].over)) return condition;
    return std::nullopt;
  }

  // Scores and values of these weights.
  void into_weights(node_id weights) {
    if (p_[weights].over.size() != 1) return;
    const std::optional<node_id> condition = causal_mask_of(weights);
    if (!condition) return;
    std::vector<node_id> sources = {unmasked(p_, p_[weights].in[0])};
    for (const node_id user : users_[weights])
      if (p_[user].kind == op::dot)
        for (const node_id operand : p_[user].in)
          if (inner_of(p_, operand) != weights) sources.push_back(operand);
    for (const node_id source : sources)
      if (const auto ahead = later_positions_in(source, p_[weights].over[0]))
        return say_once(*ahead,
                        "has positions after its own, which {} hides; did you mean those before?",
                        written_as(p_, *condition));
  }

  // Steps that a recurrence along positions reads.
  void into_scan(node_id scan) {
    for (const node_id source : p_[scan].in)
      if (const auto ahead = later_positions_in(source, p_[scan].over[0]))
        return say_once(
            *ahead,
            "has positions after its own, which a scan of {} has not come to; did you mean those "
            "before?",
            p_.axes[p_[scan].over[0]].name);
  }

  // A step of later positions among those that n is computed from.
  std::optional<node_id> later_positions_in(node_id n, axis_id along) const {
    std::optional<node_id> found;
    std::set<node_id> below;
    walk(
        p_, n,
        [&](node_id m) {
          if (!found && (takes_later(m, along) || is_rest_of_sum(m, along))) found = m;
          return !found && (p_[m].name.empty() || is_argument(p_[m]));
        },
        below);
    return found;
  }
  // take<seq>(X, index(seq) + 1), take<seq>(X, min(index(seq) + index(tap), size(seq) - 1))
  bool takes_later(node_id n, axis_id along) const {
    if (!is(op::take, n) || root(p_[n].over[0]) != root(along)) return false;
    const node_id source = inner(n, 0);
    if (p_[source].kind == op::param || p_[n].type == i32) return false;
    // embeddings of tokens, as reading the tokens themselves would be
    if (is(op::take, source) && p_[inner(source, 0)].kind == op::param) return false;
    if (is_pair_along(p_[n].in[0], along)) return false;
    affine at = affine_of(p_, unclamped(p_[n].in[1]));
    std::optional<axis_id> own;
    for (const auto &[t, factor] : at.form)
      if (t.what == term::position && factor == 1 && root(t.id) == root(along)) own = t.id;
    if (!own) return false;
    at.form.erase({term::position, *own});
    const bool has_others = std::any_of(at.form.begin(), at.form.end(), [](const auto &t) {
      return t.first.what != term::position;
    });
    return !has_others && may_be_positive(at);
  }
  // Of positions alone: index(tap) - 3 is not, for four taps.
  bool may_be_positive(const affine &at) const {
    std::int64_t most = at.number;
    for (const auto &[t, factor] : at.form) {
      const std::int64_t size = p_.axes[root(t.id)].size;
      if (factor > 0 && size < 0) return true;
      if (factor > 0) most += factor * (size - 1);
    }
    return most > 0;
  }
  // True for scores, which have both positions of a query and of a key.
  bool is_pair_along(node_id n, axis_id along) const {
    const auto is_along = [&](axis_id a) { return root(a) == root(along); };
    return std::count_if(p_[n].shape.begin(), p_[n].shape.end(), is_along) > 1;
  }
  // x of min(max(x, 0), size(seq) - 1)
  node_id unclamped(node_id n) const {
    while (is(op::min, n) || is(op::max, n)) {
      const node_id a = p_[n].in[0], b = p_[n].in[1];
      n = p_[a].shape.empty() ? b : a;
    }
    return n;
  }
  // sum<seq>(X) - cumsum<seq>(X)
  bool is_rest_of_sum(node_id n, axis_id along) const {
    if (!is(op::sub, n)) return false;
    const node_id total = inner(n, 0), before = inner(n, 1);
    return is(op::sum, total) && is(op::cumsum, before) && inner(total, 0) == inner(before, 0) &&
           has_root(p_[total].over, along) && !is_pair_along(p_[total].in[0], along);
  }

  // take<seq>(h, 0), where h is made by causal weights
  void first_as_summary(node_id n) {
    const affine at = affine_of(p_, p_[n].in[1]);
    if (!at.form.empty() || at.number != 0 || !p_[p_[n].in[1]].name.empty()) return;
    const axis_id along = p_[n].over[0];
    if (is_pair_along(p_[n].in[0], along)) return;
    std::set<node_id> below;
    walk(
        p_, p_[n].in[0],
        [&](node_id m) { return p_[m].name.empty() && has_root(p_[m].shape, along); }, below);
    for (const node_id m : below) {
      if (!is(op::softmax, m) || p_[m].over.size() != 1) continue;
      if (root(p_[m].over[0]) != root(along) || !has_root(without(p_[m].shape, p_[m].over), along))
        continue;
      if (const auto condition = causal_mask_of(m))
        return say_once(
            n,
            "the first position sees itself alone, since {0} hides the others from it; did you "
            "mean the last one, size({1}) - 1?",
            written_as(p_, *condition), p_.axes[along].name);
    }
  }

  // dot<d_k>(dot<d_model>(X, Wq), dot<d_model>(rms_norm<d_model>(X), Wk))
  void normalised_once(node_id n) {
    const node_id a = inner(n, 0), b = inner(n, 1);
    if (keys_of_scores(p_, users_, n).empty()) return;
    for (const auto &[normal, raw] : {std::pair(a, b), {b, a}})
      if (const node_id x = of_unit_length(normal, p_[n].over), other = without_gain(raw);
          x >= 0 && x != other && is(op::dot, other) && is_same_kind(x, other, n))
        return say_once(n, "has a norm of {} but none of {}; did you mean one of both?",
                        written_as(p_, x), written_as(p_, other));
    if (!is(op::dot, a) || !is(op::dot, b)) return;
    for (const auto &[raw, other] : {std::pair(a, b), {b, a}}) {
      const node_id x = projected(p_, raw), y = projected(p_, other);
      if (x < 0 || y < 0 || x == y || !is_norm_of(y, x, p_[other].over)) continue;
      return say_once(
          n,
          "{0} is made of {1} as it is, and {2} of {1} after a norm; did you mean the norm in "
          "both?",
          written_as(p_, raw), written_as(p_, x), written_as(p_, other));
    }
  }
  // x of x * rsqrt(sum<d_k>(x * x)), with gains, where d_k are the axes that scores contract; -1:
  // another step
  node_id of_unit_length(node_id n, const std::vector<axis_id> &along) const {
    if (!is(op::mul, n) && !is(op::div, n)) return -1;
    for (const std::size_t k : {0, 1}) {
      const node_id x = inner(n, k), by = inner(n, 1 - k);
      if (is_argument_or_product(x) && is_norm_of(by, x, along)) return x;
      if (const node_id of = of_unit_length(x, along); of >= 0) return of;
    }
    return -1;
  }
  // x of x * gamma
  node_id without_gain(node_id n) const {
    if (is(op::mul, n))
      for (const std::size_t k : {0, 1})
        if (p_[inner(n, k)].kind == op::param) return inner(n, 1 - k);
    return n;
  }
  bool is_argument_or_product(node_id n) const { return p_[n].kind == op::input || is(op::dot, n); }
  // Queries and keys that are projected from one step here. Keys of a cache may be normalised
  // already, and those of a latent vector before it is projected.
  // Both towers of a contrastive loss are.
  bool is_same_kind(node_id x, node_id other, node_id product) const {
    if (!is(op::dot, x) || projected(p_, x) < 0) return false;
    if (projected(p_, x) == projected(p_, other)) return true;
    bool is_loss = false;
    walk_users(users_, product, [&](node_id user, node_id) {
      is_loss = is_loss || p_[user].kind == op::logsumexp;
      return is_pointwise(p_[user].kind);
    });
    return is_loss && projected(p_, other) >= 0;
  }
  // x times a number of x, with gains and shifts
  bool is_norm_of(node_id n, node_id x, const std::vector<axis_id> &along) const {
    bool has_statistic = false, is_pointwise_of = true;
    std::set<node_id> below;
    walk(
        p_, n,
        [&](node_id m) {
          const op kind = p_[m].kind;
          const bool is_statistic = kind == op::mean || kind == op::sum;
          has_statistic = has_statistic || (is_statistic && same_set(p_[m].over, along));
          const bool is_leaf = m == x || is_source(kind);
          is_pointwise_of =
              is_pointwise_of && (is_leaf || is_pointwise(kind) || is_view(kind) || is_statistic);
          return !is_leaf;
        },
        below);
    return has_statistic && is_pointwise_of && below.count(x);
  }

  // X + mlp(h), where h = X + attention(X) reaches the result through the mlp alone
  void past_a_layer(node_id n) {
    std::vector<node_id> terms;
    add_terms(n, terms);
    if (terms.size() != 2 || is_term_of_another(n)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id x = terms[k], layer = terms[1 - k];
      if (!is(op::dot, layer) || p_[x].kind == op::param || is_number(p_, x)) continue;
      std::set<node_id> below;
      walk(p_, layer, [&](node_id m) { return p_[m].name.empty() && m != x; }, below);
      for (const node_id h : below) {
        if (!is(op::add, h)) continue;
        std::vector<node_id> of_h;
        add_terms(h, of_h);
        if (of_h.size() != 2) continue;
        for (const std::size_t i : {0, 1})
          if (of_h[i] == x && is(op::dot, of_h[1 - i]) &&
              depends_on(p_, of_h[1 - i], [&](node_id m) { return m == x; }))
            return say_once(
                n,
                "adds a layer of {0} to {1}, so that {2} is lost; did you mean {0} in place of "
                "{1}?",
                written_as(p_, h), written_as(p_, x), written_as(p_, of_h[1 - i]));
      }
    }
  }
  // n = norm(h), n + mlp(n), where h = X + attention(norm(X)) carries on X itself
  void norm_carried_on(node_id n) {
    for (const std::size_t k : {0, 1}) {
      const node_id normed = inner(n, k), layer = inner(n, 1 - k);
      if (!is(op::dot, layer) || !is_projected_in(layer, normed)) continue;
      for (node_id h = 0; h < normed; ++h) {
        if (!is(op::add, h) || p_[h].shape.empty()) continue;
        const std::vector<axis_id> features = {p_[h].shape.back()};
        if (!is_norm_of(normed, h, features) || !is_read_within(h, normed)) continue;
        for (const std::size_t i : {0, 1}) {
          const node_id x = inner(h, i), before = inner(h, 1 - i);
          if (!is(op::dot, before) || !p_[x].name.empty() != is_argument(p_[x])) continue;
          if (depends_on(p_, before,
                         [&](node_id m) { return m != x && is_norm_of(m, x, features); }))
            return say_once(n,
                            "carries on a norm, so that {0} is lost, which carries on {1} itself; "
                            "did you mean to add the layer to {0}?",
                            written_as(p_, h), written_as(p_, x));
        }
      }
    }
  }
  // True if what reads h is read by the norm alone.
  bool is_read_within(node_id h, node_id normed) const {
    std::set<node_id> above;
    walk_users(users_, h, [&](node_id user, node_id) {
      if (user != normed) above.insert(user);
      return user != normed;
    });
    return std::none_of(above.begin(), above.end(),
                        [&](node_id m) { return p_[m].kind == op::output; });
  }
  // X + f(layer_norm(X)) + g(X), where g is as deep as f
  void beside_a_norm(node_id n) {
    if (is_term_of_another(n) || !is(op::add, inner(n, 0))) return;
    const node_id both = inner(n, 0);
    const std::vector<node_id> terms = {inner(both, 0), inner(both, 1), inner(n, 1)};
    for (const node_id x : terms) {
      if (p_[x].kind != op::input) continue;
      node_id of_norm = -1, raw = -1;
      for (const node_id layer : terms) {
        if (layer == x || !is(op::dot, layer)) continue;
        const bool is_of_x = is_projected_in(layer, x);
        const bool is_of_norm = depends_on(p_, layer, [&](node_id m) {
          return m != x && normalised_input(m) == std::optional(x);
        });
        if (is_of_x != is_of_norm) (is_of_x ? raw : of_norm) = layer;
      }
      if (raw < 0 || of_norm < 0 || !is_bent(raw) || is_narrow(raw, x)) continue;
      return say_once(n,
                      "adds {0}, made of {1} as it is, and {2}, made of a norm of {1}; did you "
                      "mean the norm in both?",
                      written_as(p_, raw), p_[x].name, written_as(p_, of_norm));
    }
  }
  // X of a norm of it over its last axis, with gains and shifts
  std::optional<node_id> normalised_input(node_id n) const {
    if (!is(op::mul, n) && !is(op::div, n) && !is(op::add, n)) return {};
    for (const node_id x : p_.arguments)
      if (p_[x].kind == op::input && !p_[x].shape.empty() && is_norm_of(n, x, {p_[x].shape.back()}))
        return x;
    return {};
  }
  // dot(x, W) is a part of the layer.
  bool is_projected_in(node_id layer, node_id x) const {
    return depends_on(p_, layer, [&](node_id m) {
      const node_id of = is(op::dot, m) ? projected(p_, m) : -1;
      return of >= 0 && inner_of(p_, of) == x;
    });
  }
  // An adapter: its hidden features are fewer than half of those of x.
  bool is_narrow(node_id layer, node_id x) const {
    std::int64_t hidden = 1;
    for (const axis_id a : p_[layer].over) hidden *= p_.axes[root(a)].size;
    return 2 * hidden < p_.axes[root(p_[x].shape.back())].size;
  }
  bool is_bent(node_id layer) const {
    return depends_on(p_, layer, [&](node_id m) {
      const op kind = p_[m].kind;
      return kind == op::relu || kind == op::gelu || kind == op::silu || kind == op::softmax;
    });
  }

  // X and A of X + A; more terms than two are not counted.
  void add_terms(node_id n, std::vector<node_id> &terms) const {
    if (terms.size() > 2) return;
    n = inner_of(p_, n);
    if (!is(op::add, n)) return terms.push_back(n);
    for (const node_id operand : p_[n].in) add_terms(operand, terms);
  }
  bool is_term_of_another(node_id n) const {
    return std::any_of(users_[n].begin(), users_[n].end(),
                       [&](node_id user) { return is(op::add, user); });
  }

  std::set<node_id> said_;
};

}  // namespace

std::vector<slip> flow_slips(const program &p) { return flow_finder(p).run(); }

}  // namespace qkv::codegen
