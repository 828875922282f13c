// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/leak_slips.hpp"

#include <algorithm>
#include <optional>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class leak_finder : slip_finder {
 public:
  explicit leak_finder(const program &p) : slip_finder(p) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
      if (is(op::softmax, n)) all_.push_back({n, masks_of_weights(p_, n)});
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
      if (is(op::mask, n))
        if (const auto padded = axis_of_padding(p_, p_[n].in[1])) last_state(p_[n].in[1], *padded);
    for (const weights &w : all_) {
      for (const node_id condition : w.masks) {
        window_of_later_keys(w, condition);
        always_past(w, condition);
        next_key(w, condition);
        if (is_causal(p_, condition, p_[w.step].over)) statistic_of_positions(w, condition);
        if (const auto padded = axis_of_padding(p_, condition)) {
          mean_of_all(condition, *padded);
          weighted_mean_of_all(w, condition, *padded);
          last_of_all(condition, *padded);
        }
      }
      if (w.masks.empty()) unmasked_layer(w);
    }
    return std::move(slips_);
  }

 private:
  struct weights {
    node_id step;
    std::vector<node_id> masks;
  };

  // causal<seq, kv> || sliding_window<seq, kv>(128)
  void window_of_later_keys(const weights &w, node_id condition) {
    if (!is(op::or_, condition) || positions_where(p_, condition, false).empty()) return;
    for (const std::size_t k : {0, 1}) {
      const node_id causal = p_[condition].in[k], other = p_[condition].in[1 - k];
      if (!p_[other].name.empty() || !is_causal(p_, causal, p_[w.step].over)) continue;
      if (!is_two_sided(other, p_[w.step].over) && !is_same_document(other)) continue;
      say(w.step, "{0} shows keys after the query, which {1} hides; did you mean {1} && {0}?",
          written_as(p_, other), written_as(p_, causal));
    }
  }

  // abs(index(seq) - index(kv)) < 128, or bounds on both sides of the query
  bool is_two_sided(node_id window, const std::vector<axis_id> &keys) const {
    if (is(op::less, window) || is(op::less_equal, window)) {
      const node_id distance = inner_of(p_, p_[window].in[0]);
      if (is(op::abs, distance) && difference_in(affine_of(p_, p_[distance].in[0]).form))
        return true;
    }
    return all_bound_distance(positions_where(p_, window, true), keys,
                              [](const interval &d) { return d.most > 0 && d.least < 0; });
  }

  // doc == rename<seq, kv>(doc)
  bool is_same_document(node_id condition) const {
    if (!is(op::equal, condition)) return false;
    const node_id id = inner_of(p_, p_[condition].in[0]);
    return id == inner_of(p_, p_[condition].in[1]) && p_[id].kind == op::input &&
           is_of_packed(p_[id].name);
  }
  // Positions of one image or scale see each other, in a sequence that is causal.
  static bool is_of_packed(const std::string &name) {
    return name == "id" || name == "ids" ||
           has_word(name, {"doc", "seg", "pack", "request", "seq_id"});
  }

  // cached_causal<seq, slots>(length) && index(slots) < length - size(seq)
  void always_past(const weights &w, node_id condition) {
    if (!is(op::and_, condition)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id causal = p_[condition].in[k], padding = p_[condition].in[1 - k];
      const auto seen = positions_where(p_, causal, true),
                 kept = positions_where(p_, padding, true);
      if (seen.size() != 1 || seen[0].size() != 1 || kept.size() != 1 || kept[0].size() != 1)
        continue;
      const std::optional<bound> past = bound_of_key(w, seen[0]), beyond = bound_of_key(w, kept[0]);
      if (!past || !beyond || past->most != 0 || beyond->most >= 0) continue;
      linear_form rest = past->form;
      for (const auto &[t, factor] : beyond->form)
        if ((rest[t] -= factor) == 0) rest.erase(t);
      const bool is_less = rest.size() == 1 && rest.begin()->first.what == term::position &&
                           rest.begin()->second < 0;
      if (!is_less) continue;
      return say(
          w.step,
          "{0} hides the new keys from all queries, so that {1} hides nothing; did you mean {1} "
          "alone?",
          written_as(p_, padding), written_as(p_, causal));
    }
  }

  // index(kv) <= index(seq) + 1, also where size(past) keys come before: the next key is shown.
  void next_key(const weights &w, node_id condition) {
    for (const position_set &set : positions_where(p_, condition, true))
      for (const auto &[form, within] : set) {
        const std::optional<bound> b = bound_of_key(w, {{form, within}});
        if (!b || b->most != 1 || !bounds_one_side(within)) continue;
        linear_form rest = b->form;
        const axis_id key = p_[w.step].over[0];
        rest.erase({term::position, key});
        const auto query = std::find_if(rest.begin(), rest.end(), [](const auto &t) {
          return t.first.what == term::position && t.second == -1;
        });
        if (query == rest.end()) continue;
        const axis_id row = query->first.id;
        rest.erase(query);
        if (!rest.empty() ? !is_number_before(rest, row, key) : root(row) != root(key)) continue;
        return say(w.step, "{} shows each query the key after its own; did you mean one less?",
                   written_as(p_, condition));
      }
  }
  static bool bounds_one_side(const interval &d) {
    return (d.most == interval::infinite) != (d.least == -interval::infinite);
  }
  // -size(past), or size(seq) - size(kv): so many keys come before those of the queries.
  bool is_number_before(const linear_form &rest, axis_id row, axis_id key) const {
    const auto factor = [&](axis_id a) {
      const auto it = rest.find({term::size, root(a)});
      return it == rest.end() ? 0 : it->second;
    };
    if (rest.size() == 2) return factor(row) == 1 && factor(key) == -1;
    const auto &[t, by] = *rest.begin();
    return rest.size() == 1 && t.what == term::size && by == -1 && root(t.id) != root(key);
  }

  // index(slots) + .. <= most
  struct bound {
    linear_form form;
    std::int64_t most;
  };
  std::optional<bound> bound_of_key(const weights &w, const position_set &set) const {
    const auto &[form, within] = *set.begin();
    const auto key = form.find({term::position, p_[w.step].over[0]});
    if (key == form.end()) return {};
    if (key->second > 0 && within.most != interval::infinite) return bound{form, within.most};
    if (key->second < 0 && within.least != -interval::infinite)
      return bound{negative(form), -within.least};
    return {};
  }

  // rms_norm<seq>(Q) before a causal mask: a number of all positions, later ones, too
  void statistic_of_positions(const weights &w, node_id condition) {
    const axis_id key = p_[w.step].over[0];
    std::set<node_id> below;
    walk(p_, p_[w.step].in[0], [](node_id) { return true; }, below);
    for (const node_id n : below) {
      const bool is_statistic = is(op::mean, n) || is(op::max_over, n);
      if (!is_statistic || !has_root(p_[n].over, key) || has_root(p_[n].shape, key)) continue;
      if (is(op::abs, inner_of(p_, p_[n].in[0]))) continue;  // the scale of whole numbers
      if (is(op::mask, inner_of(p_, p_[n].in[0])) || centres_keys(n, key)) continue;
      say(w.step,
          "{} is made of all positions, of those that {} hides, too; did you mean another axis "
          "than {}?",
          written_as(p_, n), written_as(p_, condition), names_of(p_, p_[n].over));
      return;
    }
  }

  // K - mean<kv>(K) moves all scores of a query by one number, which softmax does not see.
  bool centres_keys(node_id n, axis_id key) const {
    return is(op::mean, n) && has(p_[n].over, key) &&
           std::all_of(users_[n].begin(), users_[n].end(), [&](node_id user) {
             return is(op::sub, user) && p_[user].in[1] == n && p_[user].in[0] == p_[n].in[0];
           });
  }

  // take<seq>(Y, size(seq) - 1), which is padding
  void last_of_all(node_id condition, axis_id padded) {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!is(op::take, n) || !has_root(p_[n].over, padded)) continue;
      if (!p_[p_[n].in[1]].name.empty()) continue;
      const affine at = affine_of(p_, p_[n].in[1]);
      if (at.form.size() != 1 || at.number >= 0) continue;
      const auto &[t, factor] = *at.form.begin();
      if (t.what != term::size || factor != 1 || root(t.id) != root(padded)) continue;
      say(n,
          "{0} hides the last positions as keys, and this takes one of them; did you mean the "
          "length in place of size({1})?",
          written_as(p_, condition), p_.axes[t.id].name);
    }
  }

  // scan<seq>(..).last beside a mask by length, whose steps go on through padding
  void last_state(node_id condition, axis_id padded) {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!is(op::last, n) || !has_root(p_[n].over, padded)) continue;
      if (knows_length(n)) continue;
      if (p_.axes[root(padded)].size >= 0 || !said_.insert(n).second) continue;
      say(n,
          "{0} hides the last positions of {1}, which the scan has gone through; did you mean the "
          "result at the length less 1?",
          written_as(p_, condition), p_.axes[padded].name);
    }
  }

  // True if a mask or a choice is among what n is computed from.
  bool knows_length(node_id n) const {
    return depends_on(p_, n,
                      [&](node_id m) { return p_[m].kind == op::mask || p_[m].kind == op::where; });
  }

  // mean<seq>(Y), where padding<kv>(length) hides the last positions from the queries
  void mean_of_all(node_id condition, axis_id padded) {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const bool pools = is(op::mean, n) || is(op::max_over, n) || is(op::logsumexp, n);
      if (!pools || !has_root(p_[n].over, padded)) continue;
      // Of features, not of scores, which vary along queries and keys.
      if (has_root(without(p_[p_[n].in[0]].shape, p_[n].over), padded)) continue;
      if (p_.axes[root(padded)].size >= 0 || hides_some(p_[n].in[0], p_[n].over)) continue;
      const auto along = std::find_if(p_[n].over.begin(), p_[n].over.end(),
                                      [&](axis_id a) { return root(a) == root(padded); });
      say(n,
          "{0} hides positions of {1} as keys, but they are counted here; did you mean "
          "{5}<{2}>(mask({4}, padding<{3}>(..)))?",
          written_as(p_, condition), p_.axes[padded].name, names_of(p_, p_[n].over),
          p_.axes[*along].name, written_as(p_, p_[n].in[0]),
          p_[n].kind == op::max_over ? "max" : name_of(p_[n].kind));
    }
  }
  // dot<seq>(normalize<seq>(index(seq) + 1), Y), where padding hides the last positions of Y
  void weighted_mean_of_all(const weights &first, node_id condition, axis_id padded) {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!is(op::dot, n) || !has_root(p_[n].over, padded) || p_.axes[root(padded)].size >= 0)
        continue;
      for (const std::size_t k : {0, 1}) {
        const node_id weights = inner_of(p_, p_[n].in[k]), values = p_[n].in[1 - k];
        if (!is(op::normalize, weights) || !same_set(p_[weights].over, p_[n].over)) continue;
        if (has_root(without(p_[values].shape, p_[n].over), padded)) continue;
        if (knows_length(weights) || hides_some(values, p_[n].over)) continue;
        if (!depends_on(p_, values, [&](node_id m) { return m == first.step; })) continue;
        say(n,
            "{0} hides positions of {1} as keys, but they are counted here; did you mean to mask "
            "{2}, too?",
            written_as(p_, condition), p_.axes[padded].name, written_as(p_, p_[weights].in[0]));
      }
    }
  }
  // Through pointwise steps.
  bool hides_some(node_id n, const std::vector<axis_id> &along) const {
    return depends_on(
        p_, n,
        [&](node_id m) {
          const op kind = p_[m].kind;
          if (kind != op::input && kind != op::param && !p_[m].name.empty()) return true;
          return (kind == op::mask && varies_along(p_[p_[m].in[1]], along)) ||
                 (kind == op::where && varies_along(p_[p_[m].in[0]], along));
        },
        [&](node_id m) { return is_pointwise(p_[m].kind) || p_[m].kind == op::mask; });
  }

  // The second of two layers, whose keys are made of what the masked weights of the first gave
  void unmasked_layer(const weights &w) {
    if (p_[w.step].over.size() != 1) return;
    const axis_id key = p_[w.step].over[0];
    for (const weights &first : all_) {
      if (first.masks.empty() || p_[first.step].over.size() != 1) continue;
      if (root(p_[first.step].over[0]) != root(key)) continue;
      if (!varies_along_root_beside(first.step, key)) continue;
      const std::optional<node_id> secret = secret_of(first, w);
      if (!secret) continue;
      if (!depends_on(
              p_, p_[w.step].in[0], [&](node_id m) { return m == first.step; },
              [&](node_id m) { return p_[m].name.empty(); }))
        continue;
      say(w.step,
          "the keys are made of {0}, which {1} masks, but all are seen here; did you mean the "
          "same mask? if it is meant, let<..>(..) of what the keys are made of",
          written_as(p_, first.step), written_as(p_, *secret));
      return;
    }
  }
  // A mask of what no query may see: padding, or keys after a query that has a position. A window
  // is a matter of cost.
  std::optional<node_id> secret_of(const weights &first, const weights &second) const {
    const bool has_position = varies_along_root_beside(second.step, p_[first.step].over[0]);
    for (const node_id condition : first.masks)
      if (axis_of_padding(p_, condition) ||
          (has_position && is_causal(p_, condition, p_[first.step].over)))
        return condition;
    return std::nullopt;
  }
  // True for weights of self-attention: queries lie along the axis of the keys, too.
  bool varies_along_root_beside(node_id weights, axis_id key) const {
    const std::vector<axis_id> others = without(p_[weights].shape, p_[weights].over);
    return has_root(others, key);
  }

  std::vector<weights> all_;
  std::set<node_id> said_;
};

}  // namespace

std::vector<slip> leak_slips(const program &p) { return leak_finder(p).run(); }

}  // namespace qkv::codegen
