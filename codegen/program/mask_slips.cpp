// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/mask_slips.hpp"
#include "codegen/program/signs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

// A step with one value where a condition is true and another where it is false.
struct two_values {
  node_id condition;
  double if_true, if_false;
};

class mask_finder : slip_finder {
 public:
  explicit mask_finder(const program &p) : slip_finder(p) {
    for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n)
      values_.push_back(values_of(n));
  }

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      if (!x.name.empty()) continue;
      if (x.kind == op::where) barely_lowered(n);
      if (x.kind == op::add || x.kind == op::sub) additive_mask(n);
      if (x.kind == op::logsumexp) unmasked_total(n), unscaled_total(n);
      if (x.kind == op::softmax) number_as_score(n), hides_new_key(n);
      if (x.kind == op::mul) zero_times_infinity(n);
      if (x.kind == op::tanh) capped_mask(n);
      if (x.kind == op::mask) {
        rows_of_prefix(n, inner_of(p_, x.in[1]));
        rows_or_keys(n, inner_of(p_, x.in[1]));
        rows_alone(n);
      }
      if (x.kind == op::mean || x.kind == op::max_over) hidden_as_zero(n);
    }
    lengths_of_others();
    return std::move(slips_);
  }

 private:
  static constexpr double hides = leaves_nothing_of_scores;
  static constexpr double tiny = 1e-4;  // one that leaves them as they are

  // Operands come before their users.
  std::optional<two_values> values_of(node_id n) const {
    const node &x = p_[n];
    if (x.kind == op::number) return two_values{-1, x.value, x.value};
    if (!x.name.empty()) return {};
    if (const node_id same = unconverted(p_, n); same != n) return values_[same];
    if (x.kind == op::cast && p_[x.in[0]].type == b8) return two_values{x.in[0], 1, 0};
    if (x.kind == op::where && is_number(p_, x.in[1]) && is_number(p_, x.in[2]))
      return two_values{x.in[0], p_[x.in[1]].value, p_[x.in[2]].value};
    if (x.kind != op::add && x.kind != op::sub && x.kind != op::mul && x.kind != op::neg) return {};
    const std::optional<two_values> &a = values_[x.in[0]], &b = values_[x.in.back()];
    if (!a || !b || (x.in.size() == 2 && a->condition >= 0 && b->condition >= 0)) return {};
    const auto compute = [&](double l, double r) {
      return x.kind == op::add ? l + r : x.kind == op::sub ? l - r : x.kind == op::mul ? l * r : -l;
    };
    return two_values{std::max(a->condition, b->condition), compute(a->if_true, b->if_true),
                      compute(a->if_false, b->if_false)};
  }

  // scores + where(causal<seq, kv>, -1e9f, 0), or + 1e9f where keys are hidden.
  void additive_mask(node_id n) {
    const node &x = p_[n];
    for (const std::size_t k : {0, 1}) {
      std::optional<two_values> v = values_[x.in[k]];
      if (!v || v->condition < 0 || values_[x.in[1 - k]]) continue;
      if (x.kind == op::sub && k == 1) v->if_true = -v->if_true, v->if_false = -v->if_false;
      const double low = std::min(v->if_true, v->if_false),
                   high = std::max(v->if_true, v->if_false);
      if (x.kind == op::add && is_condition_as_number(x.in[k])) adds_condition(n, x.in[1 - k], *v);
      const std::vector<axis_id> keys = keys_of_scores(p_, users_, n);
      if (!keys.empty() && varies_along(p_[v->condition], keys)) {
        if (high == 0) hides_nothing(n, low);
        if (low == 0 && high > 0 && high < 1e-30) hides_nothing(n, high);
      }
      if (!(high - low >= hides)) continue;
      if (high >= hides && low > -hides && !keys.empty()) {
        say(n, "+{:g} where {} is {} leaves nothing of the others; did you mean -{:g}?", high,
            written_as(p_, v->condition), v->if_true == high, high);
      } else if (low <= -hides && shows_later(keys, v->condition, v->if_true == high)) {
        say(n, "{} hides every key up to the query; did you exchange its values?",
            written_as(p_, x.in[k]));
      } else if (low <= -hides && shows_padding(keys, v->condition, v->if_true == high)) {
        say(n, "{} hides the keys that count and shows the padding; did you exchange its values?",
            written_as(p_, x.in[k]));
      }
    }
  }

  // where(causal<seq, kv>, scores, scores - 1e-9)
  void barely_lowered(node_id n) {
    const node &x = p_[n];
    const std::vector<axis_id> keys = keys_of_scores(p_, users_, n);
    if (keys.empty() || !varies_along(p_[x.in[0]], keys)) return;
    for (const std::size_t k : {1, 2}) {
      const node_id lowered = inner_of(p_, x.in[k]);
      if (!is(op::add, lowered) && !is(op::sub, lowered)) continue;
      const node &sum = p_[lowered];
      const node_id number = unconverted(p_, sum.in[1]);
      if (!is_number(p_, number) || inner_of(p_, sum.in[0]) != inner_of(p_, x.in[3 - k])) continue;
      hides_nothing(n, sum.kind == op::add ? p_[number].value : -p_[number].value);
    }
  }
  void hides_nothing(node_id n, double added) {
    if (added != 0 && added > -tiny && added < 1e-30)
      say(n, "{:g} hides no key; did you mean -1e9?", added);
  }

  bool is_condition_as_number(node_id n) const {
    const node_id x = unconverted(p_, n);
    return is(op::cast, x) && p_[p_[x].in[0]].type == b8;
  }
  // scores + cast<f32>(keep)
  void adds_condition(node_id n, node_id scores, const two_values &v) {
    const std::vector<axis_id> keys = keys_of_scores(p_, users_, n);
    if (keys.empty() || !varies_along(p_[v.condition], keys)) return;
    say(n, "adds 1 where {0} is true, which hides no key; did you mean mask({1}, {0})?",
        written_as(p_, v.condition), written_as(p_, scores));
  }

  // where(keep, x, 3): x along these axes where a condition keeps it, else a number.
  struct kept_or_number {
    node_id x, keep;
    bool is_kept_where_true;
    double number;
  };
  // Nothing where the condition is made of x, as in where(x > 0, x, 0).
  std::optional<kept_or_number> kept_or_number_of(node_id n,
                                                  const std::vector<axis_id> &over) const {
    const node_id choice = inner_of(p_, n);
    if (!is(op::where, choice)) return {};
    const node_id keep = p_[choice].in[0];
    if (!p_[keep].name.empty() && p_[keep].kind != op::input) return {};
    if (!varies_along(p_[keep], over)) return {};
    std::set<node_id> of_condition;
    walk(p_, keep, [](node_id) { return true; }, of_condition);
    for (const std::size_t k : {1, 2}) {
      const node_id number = unconverted(p_, p_[choice].in[k]), x = p_[choice].in[3 - k];
      if (!is_number(p_, number) || is_number(p_, x)) continue;
      if (of_condition.count(unconverted(p_, x))) continue;
      return kept_or_number{x, keep, k == 2, p_[number].value};
    }
    return {};
  }

  // softmax<kv>(where(keep, scores, 0)), or 1e9
  void number_as_score(node_id n) {
    const std::optional<kept_or_number> c = kept_or_number_of(p_[n].in[0], p_[n].over);
    if (!c || (std::abs(c->number) >= tiny && c->number < hides)) return;
    say(n, "hidden keys have the score {:g}, and so {}; did you mean mask({}, {}{})?", c->number,
        c->number < hides ? "a weight" : "all the weight", written_as(p_, c->x),
        c->is_kept_where_true ? "" : "!", written_as(p_, c->keep));
  }

  // softmax<kv>(mask(dot(Q, where(index(kv) == length, k, K)), index(kv) < length))
  void hides_new_key(node_id n) {
    const node_id scores = unscaled(p_, unmasked(p_, p_[n].in[0]));
    if (!is(op::dot, scores)) return;
    for (const node_id condition : masks_of_weights(p_, n))
      for (const node_id operand : p_[scores].in) {
        const node_id keys = inner_of(p_, operand);
        if (!is(op::where, keys) || !varies_along(p_[keys], p_[n].over)) continue;
        const std::vector<position_set> shown = positions_where(p_, condition, true),
                                        written = positions_where(p_, p_[keys].in[0], true);
        if (shown.size() != 1 || written.size() != 1 || written[0].size() != 1) continue;
        const auto &[form, at] = *written[0].begin();
        const auto seen = shown[0].find(form);
        const auto length = position_less_number_in(form);
        if (!length || at.least != at.most || seen == shown[0].end()) continue;
        if (seen->second.most >= at.most) continue;
        say(n, "{} hides the key that {} writes; did you mean <= in place of <?",
            written_as(p_, condition), written_as(p_, p_[keys].in[0]));
        return;
      }
  }

  // (1 - cast<f32>(keep)) * -inf
  void zero_times_infinity(node_id n) {
    const node &x = p_[n];
    for (const std::size_t k : {0, 1}) {
      const std::optional<two_values> &v = values_[x.in[1 - k]];
      if (!is_number(p_, x.in[k]) || !std::isinf(p_[x.in[k]].value)) continue;
      if (!v || v->condition < 0 || (v->if_true != 0 && v->if_false != 0)) continue;
      say(n, "0 * {0:g} is NaN where {1} is {2}; did you mean where({1}, {3}, {4})?",
          p_[x.in[k]].value, written_as(p_, v->condition), v->if_true == 0,
          v->if_true == 0 ? "0" : "-inf", v->if_true == 0 ? "-inf" : "0");
    }
  }

  // softcap(scores + where(causal<seq, kv>, 0, -1e9), 50)
  void capped_mask(node_id n) {
    const node_id scaled = unscaled(p_, p_[n].in[0]);
    const std::vector<axis_id> keys = keys_of_scores(p_, users_, n);
    if (keys.empty()) return;
    if (const auto c = kept_or_number_of(scaled, keys); c && c->number <= -hides)
      say(n, "the cap keeps {:g} from hiding a key; did you mean softcap({}, ..) under the mask?",
          c->number, written_as(p_, c->x));
    if (!is(op::add, scaled)) return;
    for (const node_id term : p_[scaled].in) {
      const std::optional<two_values> &v = values_[term];
      if (!v || v->condition < 0 || std::min(v->if_true, v->if_false) > -hides) continue;
      say(n,
          "the cap keeps {:g} from hiding a key; did you mean to cap the scores before they are "
          "masked?",
          std::min(v->if_true, v->if_false));
    }
  }

  // causal<seq, kv> || index(seq) < prefix
  void rows_of_prefix(node_id n, node_id condition) {
    if (!is(op::or_, condition)) return;
    const std::vector<axis_id> keys = keys_of_scores(p_, users_, n);
    const auto is_past = [](const interval &d) { return d.most <= 0; };
    for (const std::size_t k : {0, 1}) {
      const node_id causal = p_[condition].in[k], rows = inner_of(p_, p_[condition].in[1 - k]);
      if (keys.empty() || !p_[rows].name.empty() || varies_along(p_[rows], keys)) continue;
      if (!all_bound_distance(positions_where(p_, causal, true), keys, is_past)) continue;
      const std::vector<position_set> first = positions_where(p_, rows, true);
      if (first.size() != 1 || first[0].size() != 1) continue;
      const auto &[form, where] = *first[0].begin();
      const auto &[position, factor] = *form.begin();
      const bool is_bound = form.size() == 1 || position_less_number_in(form);
      if (position.what != term::position || factor != 1 || !is_bound) continue;
      if (where.most == interval::infinite || !has(p_[causal].shape, position.id)) continue;
      say(n,
          "queries where {0} see the keys after them, too; did you mean index({1}) in place of "
          "index({2})?",
          written_as(p_, rows), p_.axes[keys[0]].name, p_.axes[position.id].name);
    }
  }

  // index(seq) < length || index(kv) < length
  void rows_or_keys(node_id n, node_id condition) {
    if (!is(op::or_, condition)) return;
    const std::optional<position_less_number> a = padding_of(p_[condition].in[0]),
                                              b = padding_of(p_[condition].in[1]);
    const std::vector<axis_id> keys = keys_of_scores(p_, users_, n);
    if (!a || !b || has(keys, a->position) == has(keys, b->position)) return;
    // global tokens see all, and all see them
    if (has_word(p_[a->number].name, {"global", "relay"})) return;
    say(n, "{0} shows padding to queries that count; did you mean {1} && {2}?",
        written_as(p_, condition), written_as(p_, p_[condition].in[0]),
        written_as(p_, p_[condition].in[1]));
  }

  bool is_of_call(node_id n) const {
    return depends_on(p_, n, [&](node_id m) { return is_argument(p_[m]); });
  }

  // sliding_window<seq, kv>(128) && padding<seq>(length), whose keys are an alias of the queries
  void rows_alone(node_id n) {
    const std::vector<axis_id> keys = keys_of_scores(p_, users_, n);
    if (keys.size() != 1 || !varies_along(p_[p_[n].in[1]], keys)) return;
    const std::vector<position_set> shown = positions_where(p_, p_[n].in[1], true);
    const auto is_past = [](const interval &d) { return d.most <= 0; };
    if (shown.empty() || all_bound_distance(shown, keys, is_past)) return;
    std::optional<position_less_number> rows;
    for (const position_set &set : shown) {
      std::optional<position_less_number> of_set;
      for (const auto &[form, where] : set) {
        for (const auto &[t, factor] : form)
          if (t.what == term::step && varies_along(p_[t.id], keys) && is_of_call(t.id)) return;
        const auto less = position_less_number_in(form);
        if (!less) continue;
        if (has(keys, less->position)) return;
        if (where.most < 0 && root(less->position) == root(keys[0])) of_set = less;
      }
      if (!of_set) return;
      rows = of_set;
    }
    const auto is_of_keys = [&](node_id condition) {
      const auto less = number_above(inner_of(p_, condition));
      return less && has(keys, less->position);
    };
    for (node_id m = 0; m < static_cast<node_id>(p_.nodes.size()); ++m) {
      if (p_[m].kind == op::mask && is_of_keys(p_[m].in[1])) return;
      if (values_[m] && values_[m]->condition >= 0 && is_of_keys(values_[m]->condition)) return;
    }
    say(n, "hides queries from {0} on, but shows others the keys there; did you mean padding<{1}>?",
        written_as(p_, rows->number), p_.axes[keys[0]].name);
  }

  // padding<kv>(length) of 16 latents, where length counts the inputs that they read elsewhere
  void lengths_of_others() {
    struct use {
      node_id mask;
      position_less_number less;
    };
    std::vector<use> of_call, of_spec;  // by who decides the size of the axis
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!is(op::mask, n)) continue;
      if (const auto less = number_above(inner_of(p_, p_[n].in[1])))
        (p_.axes[root(less->position)].size < 0 ? of_call : of_spec).push_back({n, *less});
    }
    for (const use &a : of_spec)
      for (const use &b : of_call)
        if (a.less.number == b.less.number)
          return say(a.mask,
                     "hides {0} by {1}, which counts positions of {2} elsewhere; did you mean the "
                     "scores without that mask?",
                     p_.axes[a.less.position].name, p_[a.less.number].name,
                     p_.axes[b.less.position].name);
  }

  // A position that is below a number of the call, in a condition that says nothing else.
  std::optional<position_less_number> number_above(node_id condition) const {
    if (!is_padding(p_, condition)) return {};
    return position_less_number_in(positions_where(p_, condition, true)[0].begin()->first);
  }
  // The same for a number named length.
  std::optional<position_less_number> padding_of(node_id condition) const {
    const auto less = number_above(condition);
    if (!less || p_[less->number].name.find("len") == std::string::npos) return {};
    return less;
  }

  // mean<seq>(X * cast<f32>(keep)), mean<seq>(where(keep, X, 0))
  void hidden_as_zero(node_id n) {
    const node_id product = inner_of(p_, p_[n].in[0]);
    if (const auto c = kept_or_number_of(product, p_[n].over); c && c->number == 0)
      counts_as_zero(n, c->x, c->keep, c->is_kept_where_true);
    if (!is(op::mul, product)) return;
    for (const std::size_t k : {0, 1}) {
      if (!is_condition_as_number(p_[product].in[k])) continue;
      const node_id keep = p_[unconverted(p_, p_[product].in[k])].in[0];
      if (varies_along(p_[keep], p_[n].over)) counts_as_zero(n, p_[product].in[1 - k], keep, true);
    }
  }
  void counts_as_zero(node_id n, node_id x, node_id keep, bool is_kept_where_true) {
    if (!counts_positions(n, keep)) return;
    if (p_[n].kind != op::mean && signs_of(p_)[x] == sign::not_negative) return;
    say(n, "positions where {0} is {1} count as 0; did you mean {2}<{3}>(mask({4}, {5}{0}))?",
        written_as(p_, keep), !is_kept_where_true, p_[n].kind == op::mean ? "mean" : "max",
        names_of(p_, p_[n].over), written_as(p_, x), is_kept_where_true ? "" : "!");
  }

  // A condition that says which positions there are, not a choice among them by their numbers.
  bool counts_positions(node_id n, node_id keep) const {
    if (depends_on(p_, keep, [&](node_id m) { return p_[m].kind == op::index; })) return true;
    const node &c = p_[inner_of(p_, keep)];
    const node_id of = is_comparison(c.kind) ? inner_of(p_, c.in[0]) : inner_of(p_, keep);
    const std::string &name = p_[of].name;
    if (is_comparison(c.kind) && c.kind != op::equal && has_word(name, {"label"})) return true;
    return p_[of].kind == op::input && p_[of].shape.size() <= p_[p_[n].in[0]].shape.size() &&
           has_word(name, {"keep", "real", "valid", "pad", "mask", "live", "present"});
  }

  // True if the condition has this value from the first key beyond a number of the call.
  bool shows_padding(const std::vector<axis_id> &keys, node_id condition, bool is_true) const {
    const std::vector<position_set> shown = positions_where(p_, condition, is_true);
    if (shown.size() != 1 || shown[0].size() != 1) return false;
    const auto &[form, where] = *shown[0].begin();
    const auto beyond = position_less_number_in(form);
    return beyond && has(keys, beyond->position) && where.least >= 0;
  }

  // True if the keys where the condition has this value come after the query.
  bool shows_later(const std::vector<axis_id> &keys, node_id condition, bool is_true) const {
    return all_bound_distance(positions_where(p_, condition, is_true), keys,
                              [](const interval &d) { return d.least >= 1; });
  }

  // logsumexp<kv>(scores) beside softmax<kv>(mask(scores, keep)).
  void unmasked_total(node_id n) {
    const node &x = p_[n];
    if (is_total_of_logits(n)) return;
    for (node_id user : users_[x.in[0]])
      for (node_id weights : users_[user])
        if (p_[user].kind == op::mask && user != n && p_[weights].kind == op::softmax &&
            same_set(p_[weights].over, x.over))
          return say(
              n, "adds up keys that {} hides from {}; did you mean logsumexp of the masked scores?",
              written_as(p_, user), written_as(p_, weights));
  }

  // True for logsumexp<vocabulary>(logits) - take<vocabulary>(logits, ids), the square that keeps
  // logits small, and beside another softmax or logsumexp of its own kind.
  bool is_total_of_logits(node_id n) const {
    const node_id logits = p_[n].in[0];
    for (const node_id user : users_[n])
      if (is(op::mul, user) && p_[user].in[0] == n && p_[user].in[1] == n) return true;
    return std::any_of(users_[logits].begin(), users_[logits].end(), [&](node_id user) {
      const op kind = p_[user].kind;
      if (kind == op::take || kind == op::softmax) return true;
      return kind == op::mask &&
             std::any_of(users_[user].begin(), users_[user].end(),
                         [&](node_id u) { return p_[u].kind == op::logsumexp; });
    });
  }

  // logsumexp<kv>(products) beside softmax<kv>(products / sqrt(d_k)), perhaps masked
  void unscaled_total(node_id n) {
    const node &x = p_[n];
    if (is_total_of_logits(n)) return;
    const node_id products = unmasked(p_, x.in[0]);
    if (!is(op::dot, products)) return;
    for (node_id m = 0; m < static_cast<node_id>(p_.nodes.size()); ++m) {
      if (p_[m].kind != op::softmax || !same_set(p_[m].over, x.over)) continue;
      const node_id scores = unmasked(p_, p_[m].in[0]);
      if (scores == products || unmasked(p_, unscaled(p_, scores)) != products) continue;
      return say(n,
                 "adds up {} without the scale that they have in {}; did you mean logsumexp of the "
                 "scores?",
                 written_as(p_, products), written_as(p_, m));
    }
  }

  std::vector<std::optional<two_values>> values_;  // per step: the numbers it may have
};

}  // namespace

std::vector<slip> mask_slips(const program &p) { return mask_finder(p).run(); }

}  // namespace qkv::codegen
