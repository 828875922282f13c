// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/take_slips.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "codegen/program/clamps.hpp"
#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class take_finder : slip_finder {
 public:
  explicit take_finder(const program &p) : slip_finder(p), positions_(steps_of_positions(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      if (!x.name.empty()) continue;
      if (x.kind == op::min || x.kind == op::max) clamp(n);
      if (x.kind == op::max)
        for (const std::size_t k : {0, 1}) visible_clamp(n, x.in[k], x.in[1 - k]);
      if (x.kind == op::take) opposite_tables(n);
      if (x.kind == op::take) taken(n), rows_overlap(n), predicts_itself(n), asked_later(n);
      if (x.kind == op::take) first_read_last(n);
    }
    return std::move(slips_);
  }

 private:
  // take<vocabulary>(logits, tokens), where take<vocabulary>(words, tokens) is what the logits are
  // computed from
  void predicts_itself(node_id n) {
    const node_id ids = unconverted(p_, p_[n].in[1]);
    if (p_[ids].kind != op::input || p_[inner_of(p_, p_[n].in[0])].kind == op::param) return;
    bool is_unlikely = false;  // log(1 - p)
    walk_users(users_, n, [&](node_id user, node_id) {
      const bool is_rest = is(op::sub, user) && is_number(p_, p_[user].in[0]);
      is_unlikely = is_unlikely || is_rest;
      return p_[user].name.empty() && is_pointwise(p_[user].kind);
    });
    if (is_unlikely) return;
    // Not through words that are replaced, nor through a summary of all positions.
    std::set<node_id> below;
    walk(
        p_, p_[n].in[0],
        [&](node_id m) { return !is(op::where, m) && has_positions_of(ids, p_[m].shape); }, below);
    const auto hides_itself = [&](node_id m) { return p_[m].kind == op::not_equal; };
    if (std::any_of(below.begin(), below.end(), hides_itself)) return;
    for (const node_id m : below)
      if (p_[m].kind == op::take && unconverted(p_, p_[m].in[1]) == ids &&
          p_.axes[p_[m].over[0]].root == p_.axes[p_[n].over[0]].root)
        return say(
            n,
            "{0} is looked up in what is computed from {0} itself; did you mean the ids to be "
            "predicted, as take<{1}>({0}, index({1}) + 1), or another argument?",
            written_as(p_, ids),
            p_[ids].shape.empty() ? "seq" : p_.axes[p_[ids].shape.back()].name);
  }

  // take<vocabulary>(slice<seq, next>(logits, 1), slice<seq, next>(tokens, 0))
  void asked_later(node_id n) {
    const node_id ids = unconverted(p_, p_[n].in[1]);
    const std::optional<shift> asked = shift_of(ids);
    if (!asked || has_word(p_.name, {"backward"})) return;
    std::set<node_id> below;
    walk(
        p_, p_[n].in[0],
        [&](node_id m) { return p_[m].name.empty() && has(p_[m].shape, asked->position); }, below);
    for (const node_id m : below) {
      const std::optional<shift> answer = shift_of(m);
      if (!answer || answer->position != asked->position || answer->over != asked->over) continue;
      if (answer->by > asked->by)
        return say(
            n,
            "what is computed at position {0} + {1} is asked for the id at {0} + {2}, which it "
            "has seen; did you exchange {1} and {2}?",
            p_.axes[asked->position].name, answer->by, asked->by);
    }
  }
  // Of take<seq>(x, index(next) + 1).
  struct shift {
    axis_id position, over;  // the second one: the root
    std::int64_t by;
  };
  std::optional<shift> shift_of(node_id n) const {
    if (!is(op::take, n)) return {};
    const affine at = affine_of(p_, p_[n].in[1]);
    if (at.form.size() != 1 || at.form.begin()->second != 1) return {};
    const term t = at.form.begin()->first;
    if (t.what != term::position) return {};
    return shift{t.id, p_.axes[p_[n].over[0]].root, at.number};
  }

  // take<tokens>(Y, size(tokens) - 1), where Y is made of concat<tokens>(broadcast<batch>(cls), X),
  // and all tokens see each other
  void first_read_last(node_id n) {
    const axis_id along = p_[n].over[0];
    const affine at = affine_of(p_, p_[n].in[1]);
    const bool is_last = at.number == -1 && at.form.size() == 1 &&
                         at.form.begin()->first == term{term::size, root(along)};
    if (!is_last) return;
    node_id first = -1;
    const bool has_order = depends_on(p_, p_[n].in[0], [&](node_id m) {
      const node &x = p_[m];
      if (x.kind == op::concat && root(x.over[0]) == root(along)) first = token_before(m);
      return x.kind == op::scan || x.kind == op::cumsum || (x.type == b8 && positions_[m]);
    });
    if (first >= 0 && !has_order)
      say(n, "is the last position of {0}, and {1} is the first; did you mean take<{0}>(.., 0)?",
          p_.axes[along].name, p_[first].name);
  }
  // The param of one position that stands before inputs.
  node_id token_before(node_id concat) const {
    const std::vector<node_id> &parts = p_[concat].in;
    const node_id token = inner_of(p_, parts.front());
    const bool is_one = p_.axes[root(p_[concat].over[1])].size == 1;
    return parts.size() == 2 && is_one && p_[token].kind == op::param ? token : -1;
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

  // take<distances>(Rk, index(kv) - index(seq) + 32) beside take<distances>(Rv, index(seq) -
  // index(kv) + 32)
  void opposite_tables(node_id n) {
    node_id position = p_[n].in[1];
    while (p_[position].name.empty() && p_[position].type == i32 && p_[position].in.size() == 2) {
      const node_id a = p_[position].in[0], b = p_[position].in[1];
      if (p_[a].shape.empty() == p_[b].shape.empty()) break;
      position = p_[a].shape.empty() ? b : a;
    }
    const linear_form away = affine_of(p_, position).form;
    const auto two = difference_in(away);
    if (!two) return;
    const auto meets = [&](node_id m, axis_id a) { return has(p_[p_[m].in[0]].shape, a); };
    const auto are_both_sides = [&](node_id other) {  // the query's features and the key's
      return meets(n, two->first) != meets(other, two->first) &&
             meets(n, two->second) != meets(other, two->second);
    };
    for (const auto &[other, form] : distances_)
      if (p_[other].over == p_[n].over && form == negative(away) && !are_both_sides(other))
        return say(n, "has distances of the other sign than {}; did you mean {}?",
                   written_as(p_, other), written_as(p_, p_[other].in[1]));
    distances_.push_back({n, away});
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
    const std::optional<block> b = block_of(n);
    if (!b || b->size < 1) return {};
    const std::int64_t positions = p_.axes[root(b->position)].size;
    if (positions <= 0) return {};
    return group{static_cast<std::int64_t>(static_cast<double>(positions - 1) / b->size),
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
      const std::int64_t size = static_size(p_, t.id);
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
        "multiplied by {}; did you mean by {}?",
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
    std::optional<axis_id> key;
    walk_users(users_, n, [&](node_id user, node_id x) {
      if (p_[user].kind == op::mask && p_[user].in[0] == x) conditions.push_back(p_[user].in[1]);
      if (p_[user].kind == op::softmax) key = p_[user].over[0];
      const op kind = p_[user].kind;
      return kind == op::take || kind == op::mask || is_pointwise(kind) || is_view(kind);
    });
    const bool has_later_keys = std::all_of(conditions.begin(), conditions.end(),
                                            [&](node_id c) { return is_padding(p_, c); });
    if (has_later_keys && key) {
      if (!has_mask_argument(*key)) unmasked_clamp(n, away, number, *key);
      return;
    }
    for (const node_id condition : conditions)
      if (is_at_most_where(away, number_of(number), condition))
        return say(n, "is {} wherever {} is true; did you mean the distance the other way round?",
                   number_of(number), written_as(p_, condition));
  }
  // scores + attention_mask
  bool has_mask_argument(axis_id key) const {
    return std::any_of(p_.arguments.begin(), p_.arguments.end(), [&](node_id m) {
      const node &x = p_[m];
      return x.kind == op::input && has(x.shape, key) && x.shape.size() > 1 &&
             has_word(x.name, {"mask"});
    });
  }
  // take<buckets>(table, max(index(seq) - index(kv), 0)), whose later keys no mask hides
  void unmasked_clamp(node_id n, const affine &away, node_id number, axis_id key) {
    const auto own = away.form.find({term::position, key});
    if (number_of(number) != 0 || away.number != 0 || own == away.form.end()) return;
    const bool is_after = own->second < 0;
    say(n, "is 0 for every key {} its query, and no mask hides those; did you mean {}?",
        is_after ? "after" : "before",
        is_after ? "a causal mask, or abs(..), as t5_bias has it"
                 : "abs(..), or distances from -64 on with + 64");
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
    half_of_table(n);
    beyond_table(n);
    more_than_rows(n);
    taken_twice(n);
    overlaps(n);
    rows_left_out(n);
  }

  // take<table>(T, min(max(index(kv) - index(seq), -64), 64) + 32), whose table has 129 rows.
  void below_table(node_id n) {
    const node_id at = p_[n].in[1];
    if (!p_[at].name.empty() || !positions_[at]) return;
    const moved_step clamp = moved_clamp_of(p_, at);
    const std::optional<double> least = clamp_of(p_, clamp.of, op::max);
    if (!least || *least >= 0 || *least + clamp.by >= 0 || range(at).most <= 0) return;
    say(n,
        "positions from {:g} to -1 lie before the first row; did you mean + {:g}? if it is meant, "
        "max(.., 0)",
        *least + clamp.by, -*least);
  }
  // take<table>(T, min(max(index(kv) - index(seq), -32), 32) + 64), whose table has 129 rows.
  void half_of_table(node_id n) {
    const node_id at = p_[n].in[1];
    const std::int64_t rows = static_size(p_, p_[n].over[0]);
    if (!positions_[at] || rows % 2 == 0 || p_[inner_of(p_, p_[n].in[0])].kind != op::param) return;
    const moved_step clamp = moved_clamp_of(p_, at);
    const std::optional<double> least = clamp_of(p_, clamp.of, op::max),
                                most = clamp_of(p_, clamp.of, op::min);
    if (!least || !most || *least != -*most || *most <= 1) return;
    const auto beside = static_cast<double>(rows / 2);
    if (clamp.by == beside && 2 * *most == beside)
      say(n,
          "distances end at {:g}, but {} has {:g} rows on each side; did you mean -{:g} and {:g}?",
          *most, p_.axes[p_[n].over[0]].name, beside, beside, beside);
  }
  // take<table>(T, min(max(index(kv) - index(seq), -32), 32) + 32), whose table has 33 rows.
  void beyond_table(node_id n) {
    const node &x = p_[n];
    const std::int64_t rows = static_size(p_, x.over[0]);
    node_id clamped = x.in[1];
    while (p_[clamped].name.empty() && (p_[clamped].kind == op::add || p_[clamped].kind == op::sub))
      clamped = p_[clamped].in[is_number(p_, p_[clamped].in[0]) ? 1 : 0];
    const affine at = affine_of(p_, x.in[1]);
    const bool is_distance = difference_in(at.form).has_value();
    if (rows < 0 || !positions_[x.in[1]] || !(clamp_of(p_, clamped, op::min) || is_distance))
      return;
    const interval r = is_distance ? interval{at.number, most_of(at)} : range(x.in[1]);
    if (r.most == interval::infinite || r.most < rows || r.least >= rows) return;
    if (is_distance)
      return say(n, "positions up to {} are taken of {}, which has {} rows; did you mean + {}?",
                 r.most, p_.axes[x.over[0]].name, rows, at.number - (r.most - rows + 1));
    say(n, "positions up to {} are taken of {}, which has {} rows; did you mean a clamp to {}?",
        r.most, p_.axes[x.over[0]].name, rows, rows - 1);
  }
  // The largest value where all sizes are known.
  std::int64_t most_of(const affine &at) const {
    std::int64_t most = at.number;
    for (const auto &[t, factor] : at.form) {
      const std::int64_t size = t.what == term::position ? static_size(p_, t.id) : -1;
      if (size < 0) return interval::infinite;
      most += std::max<std::int64_t>(factor, 0) * (size - 1);
    }
    return most;
  }
  // take<kv_heads>(K, index(heads)), of 8 heads that share 2.
  void more_than_rows(node_id n) {
    const node &x = p_[n];
    const std::int64_t rows = static_size(p_, x.over[0]);
    if (const auto g = groups_of(x.in[1]); g && rows > 0 && g->last >= rows)
      return say(x.in[1],
                 "positions up to {} are taken of {}, which has {}; did you mean to divide by {}?",
                 g->last, p_.axes[x.over[0]].name, rows, (g->positions + rows - 1) / rows);
    const bool is_argument_of_call = p_[inner_of(p_, x.in[0])].kind == op::input;
    if (const auto g = groups_of(x.in[1]);
        g && is_argument_of_call && g->last + 1 < rows && g->positions % rows == 0)
      return say(x.in[1],
                 "positions up to {} are taken of {}, which has {}; did you mean to divide by {}?",
                 g->last, p_.axes[x.over[0]].name, rows,
                 std::max<std::int64_t>(g->positions / rows, 1));
    const affine at = affine_of(p_, x.in[1]);
    if (rows < 0 || at.number != 0 || at.form.size() != 1 || !p_[x.in[1]].name.empty()) return;
    const auto &[position, factor] = *at.form.begin();
    if (position.what != term::position || factor != 1) return;
    const std::int64_t positions = static_size(p_, position.id);
    if (positions <= rows) return;
    say(n,
        "positions up to {} are taken of {}, which has {}; did you mean the position of its group?",
        positions - 1, p_.axes[x.over[0]].name, rows);
  }
  // slice(x, 0) twice, where the other half of x is not used.
  void taken_twice(node_id n) {
    const std::vector<slice_of_whole> slices = slices_beside(n);
    std::int64_t covered = 0;
    bool twice = false;
    std::set<std::int64_t> begins;
    for (const slice_of_whole &s : slices) {
      twice =
          twice || (s.step < n && s.first == *first_of_slice(n) && p_[s.step].shape == p_[n].shape);
      if (begins.insert(s.first).second) covered += s.length;
    }
    if (twice && covered < size_of_whole(n))
      say(n,
          "positions from {} of {} are taken a second time, and others never; did you mean "
          "another first position?",
          *first_of_slice(n), p_.axes[p_.axes[p_[n].over[0]].root].name);
  }
  // take<layers>(W1, 0) in both layers, beside take<layers>(W2, 0) and take<layers>(W2, 1)
  void rows_left_out(node_id n) {
    const node_id table = p_[n].in[0];
    const axis_id rows = p_[n].over[0];
    const std::set<std::int64_t> read = rows_read(table, rows);
    const std::int64_t size = static_size(p_, rows);
    if (read.empty() || static_cast<std::int64_t>(read.size()) >= size) return;
    if (users_[table].front() != n || users_[n].size() < 2) return;
    for (node_id other = 0; other < static_cast<node_id>(p_.nodes.size()); ++other)
      if (other != table && p_[other].kind == p_[table].kind && has(p_[other].shape, rows) &&
          static_cast<std::int64_t>(rows_read(other, rows).size()) == size)
        return say(
            n,
            "is read {} times, but other positions of {} in {} never, though all of {} are; did "
            "you mean another position in one?",
            users_[n].size(), p_.axes[rows].name, written_as(p_, table), written_as(p_, other));
  }
  // The numbers at which a param, or one axis of a split step, is read; none if it is read in
  // another way, too.
  std::set<std::int64_t> rows_read(node_id table, axis_id rows) const {
    std::set<std::int64_t> read;
    if (p_[table].kind != op::param && p_[table].kind != op::split) return read;
    for (const node_id user : users_[table]) {
      const bool is_row = is(op::take, user) && p_[user].over[0] == rows && p_[user].in[0] == table;
      const affine at = is_row ? affine_of(p_, p_[user].in[1]) : affine{};
      if (!is_row || !at.form.empty()) return {};
      read.insert(at.number);
    }
    return read;
  }

  // slice<packed, d_model>(x, 256) beside slice<packed, d_model>(x, 0), which has 512 of the 1,536
  // positions, as all three parts have
  void overlaps(node_id n) {
    std::int64_t sum = 0;
    node_id other = -1;
    for (const slice_of_whole &s : slices_beside(n)) {
      const std::int64_t first = *first_of_slice(n);
      sum += s.length;
      if (s.first < first && first < s.first + s.length) other = s.step;
    }
    if (other < 0 || sum != size_of_whole(n)) return;
    say(n,
        "positions from {} of {} are in {}, too, and others are never taken; did you mean another "
        "first position?",
        *first_of_slice(n), p_.axes[p_.axes[p_[n].over[0]].root].name, written_as(p_, other));
  }
  struct slice_of_whole {
    node_id step;
    std::int64_t first, length;
  };
  // All slices of what n is a slice of, n among them; none if it is read in another way, too, or of
  // any size.
  std::vector<slice_of_whole> slices_beside(node_id n) const {
    std::vector<slice_of_whole> all;
    if (!first_of_slice(n) || size_of_whole(n) < 0) return all;
    bool are_slices = true;
    walk_users(users_, inner_of(p_, p_[n].in[0]), [&](node_id user, node_id) {
      if (is(op::rename, user)) return true;
      const std::optional<std::int64_t> first = first_of_slice(user);
      are_slices = are_slices && first && p_[user].over == p_[n].over;
      if (are_slices) all.push_back({user, *first, length_of_slice(user)});
      return false;
    });
    return are_slices ? all : std::vector<slice_of_whole>();
  }
  std::int64_t size_of_whole(node_id n) const { return static_size(p_, p_[n].over[0]); }
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
    return std::max<std::int64_t>(static_size(p_, part), 0);
  }

  const std::vector<bool> positions_;
  std::vector<std::pair<node_id, linear_form>> distances_;
};

}  // namespace

std::vector<slip> take_slips(const program &p) { return take_finder(p).run(); }

}  // namespace qkv::codegen
