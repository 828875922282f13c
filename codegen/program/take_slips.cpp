// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/take_slips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class take_finder {
 public:
  explicit take_finder(const program &p)
      : p_(p), users_(users_of(p)), positions_(steps_of_positions(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      if (!x.name.empty()) continue;
      if (x.kind == op::min || x.kind == op::max) clamp(n);
      if (x.kind == op::max)
        for (const std::size_t k : {0, 1}) visible_clamp(n, x.in[k], x.in[1 - k]);
      if (x.kind == op::take) taken(n), rows_overlap(n), predicts_itself(n);
    }
    return std::move(slips_);
  }

 private:
  template <class... T>
  void say(node_id n, fmt::format_string<T...> text, T &&...values) {
    slips_.push_back({n, fmt::format(text, std::forward<T>(values)...)});
  }

  // take<vocabulary>(logits, tokens), where take<vocabulary>(words, tokens) is what the logits are
  // computed from
  void predicts_itself(node_id n) {
    const node_id ids = unconverted(p_, p_[n].in[1]);
    if (p_[ids].kind != op::input || p_[inner_of(p_, p_[n].in[0])].kind == op::param) return;
    bool is_unlikely = false;  // log(1 - p)
    walk_users(users_, n, [&](node_id user, node_id) {
      const bool is_rest = is_unnamed(p_, op::sub, user) && is_number(p_, p_[user].in[0]);
      is_unlikely = is_unlikely || is_rest;
      return p_[user].name.empty() && is_pointwise(p_[user].kind);
    });
    if (is_unlikely) return;
    // Not through words that are replaced, nor through a summary of all positions.
    std::set<node_id> below;
    walk(
        p_, p_[n].in[0],
        [&](node_id m) {
          return !is_unnamed(p_, op::where, m) && has_positions_of(ids, p_[m].shape);
        },
        below);
    const auto hides_itself = [&](node_id m) { return p_[m].kind == op::not_equal; };
    if (std::any_of(below.begin(), below.end(), hides_itself)) return;
    for (const node_id m : below)
      if (p_[m].kind == op::take && unconverted(p_, p_[m].in[1]) == ids &&
          p_.axes[p_[m].over[0]].root == p_.axes[p_[n].over[0]].root)
        return say(n,
                   "{} is looked up in what is computed from {} itself; did you mean another "
                   "argument, the ids to be predicted? if it is meant, let<..>(..)",
                   label_of(p_, ids), label_of(p_, ids));
  }

  // True if these axes have one of the positions of the ids, which may have none.
  bool has_positions_of(node_id ids, const std::vector<axis_id> &shape) const {
    bool has_some = false;
    for (const axis_id a : p_[ids].shape) {
      if (p_.axes[a].batch) continue;
      has_some = true;
      for (const axis_id b : shape)
        if (p_.axes[b].root == p_.axes[a].root) return true;
    }
    return !has_some;
  }

  interval range(node_id n) const {
    const node &x = p_[n];
    if (x.name.empty() && (x.kind == op::min || x.kind == op::max)) {
      const auto pick = [&](std::int64_t a, std::int64_t b) {
        return x.kind == op::min ? std::min(a, b) : std::max(a, b);
      };
      const interval a = range(x.in[0]), b = range(x.in[1]);
      return {pick(a.least, b.least), pick(a.most, b.most)};
    }
    if (x.name.empty() && x.kind == op::sub && is_number(p_, x.in[1]))
      return moved(range(x.in[0]), -number_of(x.in[1]));
    if (x.name.empty() && x.kind == op::add)
      for (const std::size_t k : {0, 1})
        if (is_number(p_, x.in[k])) return moved(range(x.in[1 - k]), number_of(x.in[k]));
    return range_of(p_, affine_of(p_, n));
  }
  // cast<i32>(index(heads) / 2)
  struct group {
    std::int64_t last, positions;
  };
  std::optional<group> groups_of(node_id n) const {
    if (!is_unnamed(p_, op::cast, n) || !is_unnamed(p_, op::div, p_[n].in[0])) return {};
    const node &share = p_[p_[n].in[0]];
    const node_id position = unconverted(p_, share.in[0]), by = inner_of(p_, share.in[1]);
    if (p_[position].kind != op::index || !is_number(p_, by) || p_[by].value < 1) return {};
    const std::int64_t positions = p_.axes[p_.axes[p_[position].over[0]].root].size;
    if (positions <= 0) return {};
    return group{static_cast<std::int64_t>(static_cast<double>(positions - 1) / p_[by].value),
                 positions};
  }
  std::int64_t number_of(node_id n) const { return static_cast<std::int64_t>(p_[n].value); }

  // take<offsets>(table, (index(y2) - index(y)) * 8 + index(x2) - index(x)), whose second distance
  // has 15 values
  void rows_overlap(node_id n) {
    if (p_[inner_of(p_, p_[n].in[0])].kind != op::param) return;
    std::map<std::int64_t, distance> by_stride;
    for (const auto &[t, k] : affine_of(p_, p_[n].in[1]).form) {
      if (t.what != term::position) return;
      const std::int64_t size = p_.axes[p_.axes[t.id].root].size;
      if (size < 0) return;
      distance &d = by_stride[std::abs(k)];
      d.span += size - 1;
      (k > 0 ? d.rises : d.falls) = true;
    }
    if (by_stride.size() != 2) return;
    const auto &[small, low] = *by_stride.begin();
    const auto &[large, high] = *by_stride.rbegin();
    if (small != 1 || !low.rises || !low.falls || !high.rises || !high.falls || large > low.span)
      return;
    say(n,
        "two pairs of distances meet in one row of the table: one has {} values, but the other is "
        "multiplied by {}; did you mean by {}? if it is meant, let<..>(..)",
        low.span + 1, large, low.span + 1);
  }
  struct distance {
    std::int64_t span = 0;  // the largest less the least
    bool rises = false, falls = false;
  };

  static interval moved(interval r, std::int64_t by) {
    if (r.least != -interval::infinite) r.least += by;
    if (r.most != interval::infinite) r.most += by;
    return r;
  }

  // max(min(distance, 0), 64).
  void clamp(node_id n) {
    const node &x = p_[n];
    if (x.type != i32 || !positions_[n]) return;
    const interval r = range(n);
    if (r.least == r.most)
      say(n, "is {} at every position; did you exchange min and max? if it is meant, {}", r.least,
          r.least);
  }

  // take<distances>(table, max(index(kv) - index(seq), 0)), whose scores a causal mask hides where
  // this is not 0
  void visible_clamp(node_id n, node_id distance, node_id number) {
    if (p_[n].type != i32 || !is_number(p_, number) || !positions_[distance]) return;
    affine away = affine_of(p_, distance);
    if (!difference_in(away.form)) return;
    std::vector<node_id> conditions;
    walk_users(users_, n, [&](node_id user, node_id x) {
      if (p_[user].kind == op::mask && p_[user].in[0] == x) conditions.push_back(p_[user].in[1]);
      return p_[user].kind == op::take || is_pointwise(p_[user].kind);
    });
    for (const node_id condition : conditions)
      if (is_at_most_where(away, number_of(number), condition))
        return say(n,
                   "is {} wherever {} is true; did you mean the distance the other way round? if "
                   "it is meant, let<..>(..)",
                   number_of(number), label_of(p_, condition));
  }
  bool is_at_most_where(const affine &x, std::int64_t most, node_id condition) const {
    const std::vector<position_set> shown = positions_where(p_, condition, true);
    return !shown.empty() && std::all_of(shown.begin(), shown.end(), [&](const position_set &s) {
      if (const auto at = s.find(x.form); at != s.end())
        return at->second.most != interval::infinite && at->second.most + x.number <= most;
      const auto at = s.find(negative(x.form));
      return at != s.end() && at->second.least != -interval::infinite &&
             x.number - at->second.least <= most;
    });
  }

  void taken(node_id n) {
    below_table(n);
    beyond_table(n);
    more_than_rows(n);
    taken_twice(n);
  }

  // take<table>(T, min(max(index(kv) - index(seq), -64), 64)), whose table has 129 rows.
  void below_table(node_id n) {
    const node &position = p_[p_[n].in[1]];
    if (!position.name.empty() || !positions_[p_[n].in[1]]) return;
    const std::optional<double> least = clamp_of(p_[n].in[1], op::max);
    if (!least || *least >= 0 || range(p_[n].in[1]).most <= 0) return;
    say(n,
        "positions from {:g} to -1 lie before the first row; did you mean + {:g}? if it is "
        "meant, max(.., 0)",
        *least, -*least);
  }
  // take<table>(T, min(max(index(kv) - index(seq), -32), 32) + 32), whose table has 33 rows.
  void beyond_table(node_id n) {
    const node &x = p_[n];
    const std::int64_t rows = p_.axes[p_.axes[x.over[0]].root].size;
    node_id clamped = x.in[1];
    while (p_[clamped].name.empty() && (p_[clamped].kind == op::add || p_[clamped].kind == op::sub))
      clamped = p_[clamped].in[is_number(p_, p_[clamped].in[0]) ? 1 : 0];
    if (rows < 0 || !positions_[x.in[1]] || !clamp_of(clamped, op::min)) return;
    const interval r = range(x.in[1]);
    if (r.most == interval::infinite || r.most < rows || r.least >= rows) return;
    say(n,
        "positions up to {} are taken of {}, which has {} rows; did you mean a clamp to {}? if it "
        "is meant, let<..>(..)",
        r.most, p_.axes[x.over[0]].name, rows, rows - 1);
  }
  // take<kv_heads>(K, index(heads)), of 8 heads that share 2.
  void more_than_rows(node_id n) {
    const node &x = p_[n];
    const std::int64_t rows = p_.axes[p_.axes[x.over[0]].root].size;
    if (const auto g = groups_of(x.in[1]); g && rows > 0 && g->last >= rows)
      return say(
          x.in[1],
          "positions up to {} are taken of {}, which has {}; did you mean to divide by {}? if "
          "it is meant, let<..>(..)",
          g->last, p_.axes[x.over[0]].name, rows, (g->positions + rows - 1) / rows);
    const affine at = affine_of(p_, x.in[1]);
    if (rows < 0 || at.number != 0 || at.form.size() != 1 || !p_[x.in[1]].name.empty()) return;
    const auto &[position, factor] = *at.form.begin();
    if (position.what != term::position || factor != 1) return;
    const std::int64_t positions = p_.axes[p_.axes[position.id].root].size;
    if (positions <= rows) return;
    say(n,
        "positions up to {} are taken of {}, which has {}; did you mean the position of its "
        "group? if it is meant, let<..>(..)",
        positions - 1, p_.axes[x.over[0]].name, rows);
  }
  // The number of a clamp in nested ones.
  std::optional<double> clamp_of(node_id n, op kind) const {
    const node &x = p_[n];
    if (!x.name.empty() || (x.kind != op::min && x.kind != op::max)) return {};
    for (const std::size_t k : {0, 1})
      if (x.kind == kind && is_number(p_, x.in[k])) return p_[x.in[k]].value;
    const std::optional<double> below = clamp_of(x.in[0], kind);
    return below ? below : clamp_of(x.in[1], kind);
  }

  // slice(x, 0) twice, where the other half of x is not used.
  void taken_twice(node_id n) {
    const std::optional<std::int64_t> first = first_of_slice(n);
    const node &x = p_[n];
    const axis whole = p_.axes[p_.axes[x.over[0]].root];
    if (!first || whole.size < 0) return;
    std::int64_t covered = 0;
    bool twice = false;
    std::set<std::int64_t> begins;
    for (node_id other : users_[x.in[0]]) {
      const std::optional<std::int64_t> begin = first_of_slice(other);
      if (!begin || p_[other].over != x.over) return;
      twice = twice || (other < n && *begin == *first && p_[other].shape == x.shape);
      if (begins.insert(*begin).second) covered += length_of_slice(other);
    }
    if (twice && covered < whole.size)
      say(n,
          "positions from {} of {} are taken a second time, and others never; did you mean another "
          "first position? if it is meant, use one step twice",
          *first, whole.name);
  }
  // Of take(x, index(part) + first).
  std::optional<std::int64_t> first_of_slice(node_id n) const {
    const node &x = p_[n];
    if (x.kind != op::take || !x.name.empty()) return {};
    const affine a = affine_of(p_, x.in[1]);
    if (a.form.size() != 1 || a.form.begin()->first.what != term::position) return {};
    return a.number;
  }
  std::int64_t length_of_slice(node_id n) const {
    const axis_id part = affine_of(p_, p_[n].in[1]).form.begin()->first.id;
    return std::max<std::int64_t>(p_.axes[p_.axes[part].root].size, 0);
  }

  const program &p_;
  const std::vector<std::vector<node_id>> users_;
  const std::vector<bool> positions_;
  std::vector<slip> slips_;
};

}  // namespace

std::vector<slip> take_slips(const program &p) { return take_finder(p).run(); }

}  // namespace qkv::codegen
