// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/placement_slips.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "codegen/program/bounds.hpp"
#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/signs.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class placement_finder : slip_finder {
 public:
  explicit placement_finder(const program &p)
      : slip_finder(p),
        positions_(steps_of_positions(p)),
        signs_(signs_of(p)),
        whole_(bounds_of_whole_numbers(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!p_[n].name.empty()) continue;
      if (p_[n].kind == op::mask) {
        compared(n);
        counted(n);
        oldest_for_newest(n);
      }
      if (p_[n].kind == op::cos) {
        cosines_.push_back(n);
        frequency_grows(n);
      }
      if (p_[n].kind == op::cast) rounded(n);
      if (p_[n].kind == op::concat || p_[n].kind == op::merge) joined_otherwise(n);
      if (p_[n].kind == op::concat) rotated_from_first(n);
      if (p_[n].kind == op::add || p_[n].kind == op::sub) two_angles(n);
    }
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
      if (p_[n].kind == op::take && p_[n].name.empty()) table_from_first(n);
    for (const node_id n : cosines_) angle_from_first(n);
    two_bases();
    return std::move(slips_);
  }

 private:
  // A mask that compares keys with queries that begin after position 0: at `length` - size(seq).
  struct later_queries {
    node_id mask;
    axis_id query;
    std::vector<node_id> lengths;  // the numbers of the call in it
  };

  void compared(node_id mask) {
    const std::vector<axis_id> keys = keys_of_scores(p_, users_, mask);
    for (const position_set &s : positions_where(p_, p_[mask].in[1], true))
      for (const auto &[form, within] : s) {
        const bool is_moved = std::any_of(form.begin(), form.end(), [](const auto &t) {
          return t.first.what == term::step || t.first.what == term::size;
        });
        if (!is_moved || positions_in(form).size() != 2) continue;
        // the keys less the queries, whose factor has the sign of what moves them
        for (const auto &[t, factor] : form)
          if (t.what == term::position && !has(keys, t.id) && moves(form, t.id, factor))
            later_.push_back({mask, t.id, steps_in(form)});
      }
  }
  static std::vector<node_id> steps_in(const linear_form &form) {
    std::vector<node_id> steps;
    for (const auto &[t, factor] : form)
      if (t.what == term::step) steps.push_back(t.id);
    return steps;
  }
  static std::vector<axis_id> positions_in(const linear_form &form) {
    std::vector<axis_id> axes;
    for (const auto &[t, factor] : form)
      if (t.what == term::position && (factor == 1 || factor == -1)) axes.push_back(t.id);
    return axes;
  }
  // Queries at index(seq) + length - size(seq): their own size is subtracted.
  bool moves(const linear_form &form, axis_id query, std::int64_t factor) const {
    const auto size = form.find({term::size, p_.axes[query].root});
    return size != form.end() && size->second == -factor;
  }

  // take<positions>(places, index(seq)) beside such a mask.
  void table_from_first(node_id n) {
    if (p_[inner_of(p_, p_[n].in[0])].kind == op::param) from_first(n, p_[n].in[1]);
  }
  // cos(index(seq) * frequency) beside such a mask.
  void angle_from_first(node_id n) {
    for (const node_id m : positions_of(n)) from_first(n, m);
    const node_id angle = inner_of(p_, p_[n].in[0]);
    if (is(op::mul, angle))
      for (const node_id m : p_[angle].in)
        if (const node_id length = inner_of(p_, m); p_[length].kind == op::input)
          at_length(n, affine_of(p_, length));
  }
  // The unnamed whole numbers that the angle of a cosine is made of.
  std::vector<node_id> positions_of(node_id cosine) const {
    std::set<node_id> steps;
    walk(
        p_, p_[cosine].in[0], [&](node_id m) { return p_[m].type != i32 && p_[m].name.empty(); },
        steps);
    std::vector<node_id> all;
    for (const node_id m : steps)
      if (p_[m].type == i32 && p_[m].name.empty()) all.push_back(m);
    return all;
  }
  // The axis of index(axis), counted from 0.
  static std::optional<axis_id> position_from_0(const affine &at) {
    if (at.number != 0 || at.form.size() != 1) return {};
    const auto &[t, factor] = *at.form.begin();
    return t.what == term::position && factor == 1 ? std::optional(t.id) : std::nullopt;
  }
  void from_first(node_id n, node_id position) {
    if (!p_[position].name.empty()) return;
    const affine at = affine_of(p_, position);
    behind_length(n, at);
    one_for_all(n, at);
    at_length(n, at);
    const std::optional<axis_id> axis = position_from_0(at);
    for (const later_queries &later : later_) {
      if (axis != later.query) continue;
      if (behind_.insert(later.query).second)
        say(n,
            "positions of {0} begin at 0 here, but not in {1}; did you mean those of the mask, as "
            "index({0}) + length - size({0})? if it is meant, let<..>(index({0}))",
            p_.axes[*axis].name, written_as(p_, later.mask));
      return;
    }
  }

  // cos((index(seq) + length) * frequency) beside cached_causal<seq, kv>(length), whose length
  // counts these queries, too
  void behind_length(node_id n, const affine &at) {
    if (at.form.size() != 2) return;
    for (const later_queries &later : later_)
      for (const node_id length : later.lengths) {
        const auto position = at.form.find({term::position, later.query});
        const auto begin = at.form.find({term::step, length});
        if (position == at.form.end() || begin == at.form.end()) continue;
        if (position->second != 1 || begin->second != 1) continue;
        if (!behind_.insert(later.query).second) return;
        say(n,
            "begins at {0} here, but {1} places queries at {0} - size({2}) + index({2}); did you "
            "mean those positions?",
            written_as(p_, length), written_as(p_, later.mask), p_.axes[later.query].name);
        return;
      }
  }

  // Q * cos(length * frequency), whose queries a mask places at length - size(seq) + index(seq)
  void one_for_all(node_id n, const affine &at) {
    if (at.form.size() != 1 || at.form.begin()->second != 1) return;
    const term t = at.form.begin()->first;
    for (const later_queries &later : later_) {
      const auto is_length = [&](node_id m) { return t.what == term::step && m == t.id; };
      if (std::none_of(later.lengths.begin(), later.lengths.end(), is_length)) continue;
      if (static_size(p_, later.query) == 1) continue;
      bool multiplies = false;
      walk_users(users_, n, [&](node_id user, node_id) {
        multiplies = multiplies || (p_[user].kind == op::mul && has(p_[user].shape, later.query));
        return p_[user].kind == op::mul || is_view(p_[user].kind);
      });
      if (!multiplies || !behind_.insert(later.query).second) continue;
      say(n,
          "has one position for all of {0}, but {1} places them at {2} - size({0}) + index({0}); "
          "did you mean those positions?",
          p_.axes[later.query].name, written_as(p_, later.mask), written_as(p_, t.id));
    }
  }

  // mask(scores, index(slots) < length) of one query for each length
  void counted(node_id mask) {
    for (const position_set &s : positions_where(p_, p_[mask].in[1], true))
      for (const auto &[form, within] : s)
        if (const auto less = position_less_number_in(form);
            less && (within.most == -1 || within.most == 0))
          if (has(keys_of_scores(p_, users_, mask), less->position) && !joins(less->position))
            counts_.push_back({mask, less->position, less->number, within.most});
  }
  // True if new keys are joined to a past along this axis.
  bool joins(axis_id keys) const {
    return std::any_of(p_.nodes.begin(), p_.nodes.end(),
                       [&](const node &x) { return x.kind == op::concat && x.over[0] == keys; });
  }
  struct counted_keys {
    node_id mask;
    axis_id key;
    node_id length;
    std::int64_t last;  // position, less the length
  };
  // cos(length * frequency) of the query beside index(slots) < length, whose last key is its own
  void at_length(node_id n, const affine &at) {
    if (at.form.size() != 1 || at.form.begin()->second != 1) return;
    const term t = at.form.begin()->first;
    if (t.what != term::step) return;
    for (const counted_keys &c : counts_) {
      if (c.length != t.id) continue;
      if (at.number == 0 && c.last == -1 && multiplies_queries(n, c.key))
        return say(n, "is the position after the last key that {0} shows; did you mean {1} - 1?",
                   written_as(p_, c.mask), written_as(p_, c.length));
      if (at.number == -1 && c.last == 0 && !is_position(t.id))
        return say(
            c.mask,
            "shows one key more than {0}, but {0} - 1 is the last position elsewhere; did you "
            "mean < {0}?",
            written_as(p_, c.length));
    }
  }
  // True if a table is read at the step itself.
  bool is_position(node_id step) const {
    const linear_form itself = {{{term::step, step}, 1}};
    return std::any_of(p_.nodes.begin(), p_.nodes.end(), [&](const node &x) {
      if (x.kind != op::take) return false;
      const affine at = affine_of(p_, x.in[1]);
      return x.in[1] == step || (at.number == 0 && at.form == itself);
    });
  }
  bool multiplies_queries(node_id n, axis_id key) const {
    bool found = false;
    walk_users(users_, n, [&](node_id user, node_id) {
      found = found || (p_[user].kind == op::mul && !has(p_[user].shape, key));
      return is_view(p_[user].kind);
    });
    return found;
  }

  static bool is_named_past(const std::string &name) {
    return has_word(name, {"past", "cache", "prev", "old", "before", "history", "stored"});
  }
  // take<positions>(cos, ..), which keys are multiplied by
  bool is_row_of_table(node_id n) const {
    if (!is(op::take, n) || p_[inner_of(p_, p_[n].in[0])].kind != op::param) return false;
    bool multiplies = false;
    walk_users(users_, n, [&](node_id user, node_id) {
      multiplies = multiplies || p_[user].kind == op::mul;
      return is_view(p_[user].kind);
    });
    return multiplies && p_[p_[n].in[1]].name.empty();
  }

  // concat<total>(past_K, rope(K, cos(index(kv) * frequency), ..))
  void rotated_from_first(node_id n) {
    const node &x = p_[n];
    const node &first = p_[inner_of(p_, x.in[0])];
    if (first.kind != op::input) return;
    // These are not rotated.
    if (has_word(first.name, {"prefix", "text", "prompt", "mem", "regist", "sink", "cls"})) return;
    const axis_id last = x.over.back();
    std::set<node_id> below;
    walk(
        p_, x.in[1], [&](node_id m) { return p_[m].kind != op::dot && p_[m].name.empty(); }, below);
    const bool is_past = is_named_past(first.name) || is_named_past(p_.axes[x.over[1]].name);
    for (const node_id m : below) {
      if (p_[m].kind != op::cos && !(is_past && is_row_of_table(m))) continue;
      for (const node_id k : p_[m].kind == op::cos ? positions_of(m) : std::vector{p_[m].in[1]}) {
        const std::optional<axis_id> axis = position_from_0(affine_of(p_, k));
        if (!axis || p_.axes[*axis].root != p_.axes[last].root) continue;
        say(n,
            "positions of {0} begin at 0 in {1}, but {2} comes before them; did you mean "
            "index({0}) + size({3})? if it is meant, let<..>(index({0}))",
            p_.axes[*axis].name, written_as(p_, m), written_as(p_, x.in[0]),
            p_.axes[x.over[1]].name);
        return;
      }
    }
  }

  // x1 * cos(a) - x2 * sin(b), where the angles differ in numbers alone
  void two_angles(node_id n) {
    const auto angle_of = [&](std::size_t operand, op kind) -> std::optional<node_id> {
      const node_id product = inner_of(p_, p_[n].in[operand]);
      if (!is(op::mul, product)) return {};
      for (const node_id factor : p_[product].in)
        if (const node_id f = inner_of(p_, factor); is(kind, f)) return p_[f].in[0];
      return {};
    };
    for (const std::size_t k : {0, 1}) {
      const auto a = angle_of(k, op::cos), b = angle_of(1 - k, op::sin);
      if (!a || !b || compared_with(*a, *b).kind != likeness::numbers_differ) continue;
      if (!angles_.insert(*a).second) return;
      say(n, "has the cosine of {} and the sine of {}; did you mean one angle?", written_as(p_, *a),
          written_as(p_, *b));
      return;
    }
  }

  // cos(index(seq) * pow(10000, index(pair) / 32)), where frequencies fall.
  void frequency_grows(node_id n) {
    const node_id angle = inner_of(p_, p_[n].in[0]);
    if (!is(op::mul, angle)) return;
    for (const node_id factor : p_[angle].in) {
      const node_id frequency = inner_of(p_, factor);
      if (p_[frequency].shape.size() != 1 || !grows(frequency)) continue;
      // Bands of a number that the call gives, as NeRF has them, grow.
      const node_id position = inner_of(p_, p_[angle].in[p_[angle].in[0] == factor ? 1 : 0]);
      if (p_[unwidened(position)].type != i32 || !angles_.insert(frequency).second) continue;
      if (is_power_of_0(frequency))
        say(n,
            "the frequency {0} is 1 for each of {1}; did you divide whole numbers of C++, as in -2 "
            "/ 64, which is 0?",
            written_as(p_, frequency), names_of(p_, p_[frequency].shape));
      else
        say(n, "the frequency {} grows with {}; did you leave out a minus?",
            written_as(p_, frequency), names_of(p_, p_[frequency].shape));
    }
  }
  bool is_power_of_0(node_id n) const {
    const node &x = p_[inner_of(p_, p_[n].in[is(op::pow, n) ? 1 : 0])];
    return x.kind == op::mul && std::any_of(x.in.begin(), x.in.end(), [&](node_id m) {
             return is_number(p_, m) && p_[m].value == 0;
           });
  }
  node_id unwidened(node_id n) const { return is(op::cast, n) ? p_[n].in[0] : n; }
  // pow(10000, index(pair) / 32) or exp(0.3 * index(pair)).
  bool grows(node_id n) const {
    const bool is_power = is(op::pow, n) && is_number(p_, p_[n].in[0]);
    if (is_power ? p_[p_[n].in[0]].value <= 1 : !is(op::exp, n)) return false;
    const node_id exponent = p_[n].in[is_power ? 1 : 0];
    return positions_[exponent] && signs_[exponent] == sign::not_negative;
  }

  // cast<bf16>(index(kv)): neighbours become one position.
  void rounded(node_id n) {
    const node &x = p_[n];
    if ((x.type != bf16 && x.type != f16) || p_[x.in[0]].type != i32) return;
    const std::int64_t exact = x.type == bf16 ? 256 : 2048;
    const std::optional<bounds> &values = whole_.known[x.in[0]];
    if (!positions_[x.in[0]] || !values || (values->least >= -exact && values->most <= exact))
      return;
    say(n,
        "{0} holds no odd numbers above {1}, so that positions become equal; did you mean "
        "cast<f32>({2})? if it is meant, let<..>({2})",
        name_of(x.type), exact, written_as(p_, x.in[0]));
  }

  // concat<total>(K, past_K), which scores are made of, beside concat<total>(past_V, V), which they
  // weigh; merge<kv, block, slot>(K) beside merge<kv, slot, block>(V).
  void joined_otherwise(node_id n) {
    for (const node_id other : joined_) {
      const std::vector<axis_id> &a = p_[other].over, &b = p_[n].over;
      if (a[0] != b[0] || a == b || !same_set(a, b) || p_[other].kind != p_[n].kind) continue;
      const bool is_values = contracts(a[0], n, true), are_keys = contracts(a[0], n, false);
      if (!(is_values && contracts(a[0], other, false)) &&
          !(are_keys && contracts(a[0], other, true)))
        continue;
      say(n, "joins the parts of {} in another order than {}; did you exchange its operands?",
          p_.axes[a[0]].name, written_as(p_, other));
      return;
    }
    joined_.push_back(n);
  }

  // True if a dot that reads this step contracts the axis, or one that does not.
  bool contracts(axis_id total, node_id n, bool wanted) const {
    bool found = false;
    walk_users(users_, n, [&](node_id user, node_id) {
      const node &u = p_[user];
      found = found || (u.kind == op::dot && has(u.over, total) == wanted);
      return is_view(u.kind) || u.kind == op::cast;
    });
    return found;
  }

  // causal<seq, total, align::first>, where concat<total>(past, now) ends with the keys of seq.
  void oldest_for_newest(node_id mask) {
    for (const position_set &s : positions_where(p_, p_[mask].in[1], true))
      for (const auto &[form, within] : s) {
        const auto d = difference_in(form);
        if (!d || !ends_near_0(within)) continue;
        for (const auto &[total, query] : {std::pair(d->first, d->second), {d->second, d->first}}) {
          const node_id joined = concat_of(total, query);
          if (joined < 0) continue;
          say(mask,
              "compares {0} with {1} from their first positions, but {2} ends with those of {0}; "
              "did you mean align::last?",
              p_.axes[query].name, p_.axes[total].name, written_as(p_, joined));
          return;
        }
      }
  }
  // False for index(total) <= index(seq) + 128, whose author knows how many keys come first.
  static bool ends_near_0(const interval &i) {
    const auto is_near = [](std::int64_t end) { return end >= -1 && end <= 1; };
    return is_near(i.least) || is_near(i.most);
  }
  // A concat<total> whose last part is along the queries' axis; -1: none. One key that comes first
  // makes index(total) <= index(seq) strictly causal.
  node_id concat_of(axis_id total, axis_id query) const {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      if (x.kind == op::concat && x.over[0] == total &&
          p_.axes[x.over.back()].root == p_.axes[query].root &&
          p_.axes[x.over[1]].root != p_.axes[query].root && p_.axes[x.over[1]].size != 1)
        return n;
    }
    return -1;
  }

  // Rotary angles of queries and of keys that differ in nothing but numbers.
  void two_bases() {
    for (const node_id a : cosines_) {
      node_id other = -1;
      bool has_equal = false;
      for (const node_id b : cosines_) {
        const likeness same = compared_with(p_[a].in[0], p_[b].in[0]);
        if (!same.renamed) continue;
        if (same.kind == likeness::equal) has_equal = true;
        if (same.kind == likeness::numbers_differ && b < a) other = b;
      }
      if (other >= 0 && !has_equal)
        say(a, "the angles of {} and of {} have different bases; did you mean one?",
            names_of(p_, p_[other].shape), names_of(p_, p_[a].shape));
    }
  }

  struct likeness {
    enum { equal, numbers_differ, differ } kind = equal;
    bool renamed = false;  // one has an axis where the other has an alias of it
  };
  likeness compared_with(node_id a, node_id b) {
    if (a == b) return {};
    const auto [at, is_new] = compared_.try_emplace({a, b});
    if (is_new) at->second = differences(a, b);
    return at->second;
  }
  likeness differences(node_id a, node_id b) {
    const node &x = p_[a], &y = p_[b];
    likeness all;
    if (x.kind != y.kind || x.name != y.name || x.in.size() != y.in.size() ||
        x.over.size() != y.over.size())
      return {likeness::differ};
    if (x.kind == op::input || x.kind == op::param) return {likeness::differ};
    for (std::size_t d = 0; d < x.over.size(); ++d) {
      if (p_.axes[x.over[d]].root != p_.axes[y.over[d]].root) return {likeness::differ};
      all.renamed = all.renamed || x.over[d] != y.over[d];
    }
    if (x.kind == op::number && x.value != y.value) all.kind = likeness::numbers_differ;
    for (std::size_t k = 0; k < x.in.size(); ++k) {
      const likeness part = compared_with(x.in[k], y.in[k]);
      all.kind = std::max(all.kind, part.kind);
      all.renamed = all.renamed || part.renamed;
    }
    return all;
  }

  const std::vector<bool> positions_;
  const std::vector<sign> signs_;
  const whole_numbers whole_;
  std::vector<later_queries> later_;
  std::vector<counted_keys> counts_;
  std::set<axis_id> behind_;  // queries of which it was said
  std::set<node_id> angles_;  // the same, of angles and frequencies
  std::vector<node_id> cosines_, joined_;
  std::map<std::pair<node_id, node_id>, likeness> compared_;
};

}  // namespace

std::vector<slip> placement_slips(const program &p) { return placement_finder(p).run(); }

}  // namespace qkv::codegen
