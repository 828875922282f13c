// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/condition_slips.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/score_masks.hpp"
#include "codegen/program/shown_keys.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class condition_finder : slip_finder {
 public:
  explicit condition_finder(const program &p) : slip_finder(p), positions_(steps_of_positions(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      if (!x.name.empty()) continue;
      if (x.kind == op::mask) shown(n, x.in[1]);
      if (x.kind == op::where) is_mask(x) ? shown(n, x.in[0]) : condition(n, x.in[0]);
      if (x.kind == op::greater) above_its_maximum(n);
      if (x.kind == op::equal) equals_itself(n);
      if (x.kind == op::greater || x.kind == op::greater_equal) above_zero(n);
    }
    return std::move(slips_);
  }

 private:
  // where(keep, scores, -1e9)
  bool is_mask(const node &x) const {
    const node_id low = unconverted(p_, x.in[2]);
    return is_number(p_, low) && p_[low].value <= -leaves_nothing_of_scores;
  }

  // A mask shows scores where this is true.
  void shown(node_id n, node_id c) {
    condition(n, c);
    const std::vector<axis_id> keys = keys_of_scores(p_, users_, n);
    shows_itself_alone(n, c);
    if (keys.empty()) return;
    const bool needs_keys = positions_[c] && p_[c].name.empty() && !has_total(n) && !is_replaced(n);
    const std::size_t before = slips_.size();
    if (needs_keys) query_without_keys(n, c, keys);
    hides_the_past(n, c, keys);
    hides_its_own(n, c, keys);
    shows_later_sinks(n, c, keys);
    orders_two_sequences(n, c, keys);
    if (needs_keys && slips_.size() == before) blind_query(n, c, keys);
  }

  // index(kv) < size(kv), or a causal mask and its opposite.
  void condition(node_id user, node_id c) {
    if (!positions_[c] || !p_[c].name.empty()) return;
    for (const bool value : {true, false})
      if (positions_where(p_, c, !value).empty() && !is_first_lag(c))
        return constant(user, c, value);
    part_of_condition(user, c);
    std::vector<node_id> parts;
    parts_of(c, parts);
    for (const node_id part : parts) loose_bound(user, part, parts);
    for (const node_id part : parts) absorbed(user, part, parts), unlike_blocks(user, part);
    for (const node_id part : parts) implied_blocks(user, part, parts);
  }

  // mask(scores, document != rename<seq, kv>(document)), alone or with other conditions
  void hides_its_own(node_id n, node_id c, const std::vector<axis_id> &keys) {
    std::vector<node_id> parts;
    parts_of(c, parts);
    for (const node_id part : parts) {
      if (!is(op::not_equal, part)) continue;
      const node_id a = unconverted(p_, p_[part].in[0]), b = unconverted(p_, p_[part].in[1]);
      if (a == b || inner_of(p_, a) != inner_of(p_, b) || positions_[a]) continue;
      if (varies_along(p_[a], keys) != varies_along(p_[b], keys))
        say(n, "{} hides from each query its own key and those of equal {}; did you mean ==?",
            written_as(p_, part), written_as(p_, inner_of(p_, a)));
    }
  }

  // logsumexp<other>(mask(s, index(view) == index(other)))
  void shows_itself_alone(node_id n, node_id c) {
    if (!is(op::equal, c)) return;
    const node &a = p_[inner_of(p_, p_[c].in[0])], &b = p_[inner_of(p_, p_[c].in[1])];
    if (a.kind != op::index || b.kind != op::index || a.over == b.over) return;
    const auto is_over_both = [&](node_id user) {
      const node &u = p_[user];
      return (u.kind == op::softmax || u.kind == op::logsumexp) &&
             (u.over == a.over || u.over == b.over);
    };
    std::set<node_id> others;  // what else is made of the scores
    walk_users(users_, inner_of(p_, p_[n].in[0]),
               [&](node_id user, node_id) { return user != n && others.insert(user).second; });
    const bool is_compared = std::any_of(others.begin(), others.end(), is_over_both);
    if (!is_compared && std::any_of(users_[n].begin(), users_[n].end(), is_over_both))
      say(n, "{} leaves one position for each; did you mean != in place of ==?", written_as(p_, c));
  }

  // cast<i32>(index(seq) / 64) == cast<i32>(index(kv) / 32), or their difference <= 1
  void unlike_blocks(node_id user, node_id part) {
    if (!is_comparison(p_[part].kind) || !p_[part].name.empty()) return;
    const node_id difference = inner_of(p_, p_[part].in[0]);
    const std::vector<node_id> &compared = p_[is(op::sub, difference) ? difference : part].in;
    const std::optional<block> a = block_of(compared[0]), b = block_of(compared[1]);
    if (!a || !b || a->position == b->position || a->size == b->size) return;
    if (p_.axes[a->position].root != p_.axes[b->position].root) return;
    say(user, "{} compares blocks of {:g} with blocks of {:g}; did you mean {:g} twice?",
        written_as(p_, part), a->size, b->size, a->size);
  }
  // causal<seq, kv> && cast<i32>(index(seq) / 64) >= cast<i32>(index(kv) / 64)
  void implied_blocks(node_id user, node_id part, const std::vector<node_id> &parts) {
    const bool is_upper = is(op::greater_equal, part);
    if (!is_upper && !is(op::less_equal, part)) return;
    const std::optional<block> later = block_of(p_[part].in[is_upper ? 0 : 1]),
                               earlier = block_of(p_[part].in[is_upper ? 1 : 0]);
    if (!later || !earlier || later->position == earlier->position || later->size != earlier->size)
      return;
    const auto orders = [&](node_id other) {
      return other != part && is_causal(p_, other, {earlier->position}) &&
             varies_along(p_[other], {later->position});
    };
    const auto causal = std::find_if(parts.begin(), parts.end(), orders);
    if (causal != parts.end())
      say(user, "{} is true wherever {} is; did you mean ==?", written_as(p_, part),
          written_as(p_, *causal));
  }

  // causal<token, frame>, where queries are projections of tokens and keys of audio frames
  void orders_two_sequences(node_id n, node_id c, const std::vector<axis_id> &keys) {
    const node_id product = unscaled(p_, p_[n].in[0]);
    if (!is(op::dot, product) || keys.size() != 1) return;
    std::vector<node_id> parts;
    parts_of(c, parts);
    for (const node_id part : parts) {
      const node_id key = is(op::less_equal, part) ? inner_of(p_, p_[part].in[0]) : -1,
                    query = key < 0 ? -1 : inner_of(p_, p_[part].in[1]);
      if (key < 0 || p_[key].kind != op::index || p_[query].kind != op::index ||
          !has(keys, p_[key].over[0]) || has_root(p_[query].over, keys[0]))
        continue;
      const bool is_left = varies_along(p_[p_[product].in[0]], keys);
      const std::set<node_id> of_keys = inputs_of_projection(p_[product].in[is_left ? 0 : 1]),
                              of_queries = inputs_of_projection(p_[product].in[is_left ? 1 : 0]);
      if (of_keys.size() != 1 || of_queries.size() != 1 || of_keys == of_queries) continue;
      say(n,
          "{} orders positions of two sequences: keys are made of {}, queries of {}; did you mean "
          "to leave it out?",
          written_as(p_, part), p_[*of_keys.begin()].name, p_[*of_queries.begin()].name);
    }
  }
  // The inputs of floating type that a step is made of; none where no param multiplies them.
  std::set<node_id> inputs_of_projection(node_id n) const {
    std::set<node_id> below, inputs;
    bool has_param = false;
    walk(p_, n, [](node_id) { return true; }, below);
    for (const node_id m : below) {
      if (p_[m].kind == op::input && is_floating(p_[m].type) && !p_[m].shape.empty())
        inputs.insert(m);
      if (p_[m].kind == op::dot)
        for (const node_id operand : p_[m].in)
          has_param = has_param || p_[inner_of(p_, operand)].kind == op::param;
    }
    return has_param ? inputs : std::set<node_id>();
  }

  // (causal<seq, kv> && sliding_window<seq, kv>(1020)) || index(kv) < 4
  void shows_later_sinks(node_id n, node_id c, const std::vector<axis_id> &keys) {
    if (!is(op::or_, c)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id near = p_[c].in[k], first = p_[c].in[1 - k];
      if (!is(op::and_, near) || !is(op::less, first) || !is_causal(p_, near, keys)) continue;
      const node_id position = inner_of(p_, p_[first].in[0]);
      if (p_[position].kind != op::index || !has(keys, p_[position].over[0]) ||
          !is_number(p_, inner_of(p_, p_[first].in[1])))
        continue;
      std::vector<node_id> parts;
      parts_of(near, parts);
      const auto causal = std::find_if(parts.begin(), parts.end(),
                                       [&](node_id part) { return is_causal(p_, part, keys); });
      if (causal == parts.end() || parts.size() < 2) continue;
      say(n, "queries before {} see keys after them, too; did you mean {} && ({} || ..)?",
          written_as(p_, p_[first].in[1]), written_as(p_, *causal), written_as(p_, first));
    }
  }

  // (causal<seq, kv> || index(kv) < prefix) && causal<seq, kv>
  void absorbed(node_id user, node_id part, const std::vector<node_id> &parts) {
    const node &x = p_[part];
    if (x.kind != op::or_ || !x.name.empty()) return;
    for (const node_id alternative : x.in)
      if (std::find(parts.begin(), parts.end(), alternative) != parts.end())
        say(user,
            "{} is always true where {} is; did you mean one of the two operators to be the other?",
            written_as(p_, part), written_as(p_, alternative));
  }

  void parts_of(node_id c, std::vector<node_id> &parts) const {
    const node &x = p_[c];
    if (x.kind != op::and_ || !x.name.empty()) return parts.push_back(c);
    for (node_id part : x.in) parts_of(part, parts);
  }

  // causal<seq, kv> && index(kv) - index(seq) < 256: a bound of the other sign was meant.
  void loose_bound(node_id user, node_id part, const std::vector<node_id> &parts) {
    const node &x = p_[part];
    if (!x.name.empty() || !is_comparison(x.kind) || parts.size() < 2) return;
    if (!is_number(p_, x.in[1]) || p_[x.in[0]].type != i32 || std::abs(p_[x.in[1]].value) <= 1)
      return;
    program rest = p_;
    const auto join = [&](op kind, std::vector<node_id> in) {
      node n;
      n.kind = kind, n.type = b8, n.in = std::move(in);
      rest.nodes.push_back(n);
      return static_cast<node_id>(rest.nodes.size() - 1);
    };
    node_id all = join(op::not_, {part});
    for (const node_id other : parts)
      if (other != part) all = join(op::and_, {all, other});
    if (positions_where(rest, all, true).empty())
      say(user, "{} is always true where the other conditions are; did you exchange its operands?",
          written_as(p_, part));
  }

  // causal<seq, kv> && index(kv) < size(kv), whose second part was to exclude padding.
  void part_of_condition(node_id user, node_id c) {
    const node &x = p_[c];
    if (!x.name.empty()) return;
    if (x.kind == op::and_)
      for (node_id part : x.in) part_of_condition(user, part);
    else if (compares_with_size(x) && positions_[c] && positions_where(p_, c, false).empty())
      constant(user, c, true);
  }

  // index(seq) >= 0 beside index(seq) >= 1, as a loop over the taps of a convolution writes them
  bool is_first_lag(node_id c) const {
    const auto is_lag = [&](node_id n) {
      return is(op::greater_equal, n) && is_number(p_, p_[n].in[1]);
    };
    if (!is_lag(c) || p_[p_[c].in[1]].value != 0) return false;
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
      if (n != c && is_lag(n) && p_[p_[n].in[1]].value >= 1 &&
          written_as(p_, p_[n].in[0]) == written_as(p_, p_[c].in[0]))
        return true;
    return false;
  }

  void constant(node_id user, node_id c, bool value) {
    const char *meant = compares_with_size(p_[c]) ? "did you mean a length of the call? "
                        : value && is(op::or_, c) ? "did you mean &&? "
                                                  : "";
    say(user, "{} is {} true; {}if it is meant, let<..>(..)", written_as(p_, c),
        value ? "always" : "never", meant);
  }

  bool compares_with_size(const node &x) const {
    return is_comparison(x.kind) && (p_[x.in[0]].kind == op::size || p_[x.in[1]].kind == op::size);
  }

  // mask(scores, index(kv) < index(seq)). A total of the scores may have more terms, as a sink.
  void query_without_keys(node_id n, node_id c, const std::vector<axis_id> &keys) {
    if (all_bound_distance(positions_where(p_, c, true), keys,
                           [](const interval &d) { return d.most <= -1; }))
      return say(n, "{} shows the first query no key; did you mean to show each query its own?",
                 written_as(p_, c));
  }

  // where(index(seq) == 0, first, attended)
  bool is_replaced(node_id scores) const {
    bool found = false;
    walk_users(users_, scores, [&](node_id user, node_id step) {
      const node &u = p_[user];
      found = found || (u.kind == op::where && u.in[0] != step && positions_[u.in[0]]);
      return u.kind == op::dot || makes_weights(u.kind) || is_pointwise(u.kind) || is_view(u.kind);
    });
    return found;
  }

  bool has_total(node_id scores) const {
    const std::vector<node_id> &users = users_[scores];
    return std::any_of(users.begin(), users.end(),
                       [&](node_id user) { return p_[user].kind == op::logsumexp; });
  }

  // causal<seq, kv> && sliding_window<seq, kv>(128) && index(kv) < 4
  void blind_query(node_id n, node_id c, const std::vector<axis_id> &keys) {
    const std::vector<axis_id> queries = without(p_[c].shape, keys);
    if (keys.size() != 1 || queries.size() != 1) return;
    if (p_.axes[queries[0]].root != p_.axes[keys[0]].root) return;
    if (const auto blind = query_that_sees_nothing(p_, c, queries[0], keys[0]))
      say(n, "{} shows query {} no key; did you mean to show each query its own?",
          written_as(p_, c), *blind);
  }

  // mask(scores, index(kv) >= index(seq)). Not reported: a window of later keys, and a backward
  // direction, by its name or beside other weights or a recurrence.
  void hides_the_past(node_id n, node_id c, const std::vector<axis_id> &keys) {
    if (!positions_[c] || !p_[c].name.empty() || is_named_backward()) return;
    const std::vector<position_set> shown = positions_where(p_, c, true);
    const bool is_all_later = all_bound_distance(shown, keys, [](const interval &d) {
      return d.least >= 0 && d.most == interval::infinite;
    });
    // A window that a number of the call bounds is another form of the same positions.
    const bool has_other_bounds =
        std::any_of(shown.begin(), shown.end(), [](const position_set &s) { return s.size() > 1; });
    if (is_all_later && !has_other_bounds && !shows_the_past_elsewhere(n))
      say(n, "{} hides every key before the query; did you exchange its operands?",
          written_as(p_, c));
  }
  bool is_named_backward() const {
    const auto says_so = [](const std::string &name) {
      return has_word(name, {"backward", "reverse", "right_to_left", "anticausal", "anti_causal",
                             "future", "bwd"});
    };
    const auto is_named = [&](node_id n) { return says_so(p_[n].name); };
    return says_so(p_.name) || std::any_of(p_.arguments.begin(), p_.arguments.end(), is_named) ||
           std::any_of(p_.outputs.begin(), p_.outputs.end(), is_named);
  }
  // Other scores than those of this mask, of which the kernel makes weights, or a recurrence.
  bool shows_the_past_elsewhere(node_id mask) const {
    std::set<node_id> of_mask;
    walk_users(users_, mask, [&](node_id user, node_id) { return of_mask.insert(user).second; });
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const bool reads_others =
          makes_weights(p_[n].kind) || p_[n].kind == op::scan || p_[n].kind == op::cumsum;
      if (reads_others && !of_mask.count(n)) return true;
    }
    return false;
  }

  // broadcast<kv>(id) == id
  void equals_itself(node_id n) {
    const node_id a = unconverted(p_, p_[n].in[0]);
    if (a != unconverted(p_, p_[n].in[1]) || p_[a].type != i32) return;
    say(n, "is always true; did you mean to rename an axis of one {}?", written_as(p_, a));
  }

  // x > max<kv>(x)
  void above_its_maximum(node_id n) {
    const node_id most = unconverted(p_, p_[n].in[1]);
    if (!is(op::max_over, most)) return;
    if (unconverted(p_, p_[most].in[0]) == unconverted(p_, p_[n].in[0]))
      say(n, "is never true; did you mean >=?");
  }
  // sigmoid(x) > 0
  void above_zero(node_id n) {
    const node_id number = unconverted(p_, p_[n].in[1]);
    if (is_number(p_, number) && p_[number].value <= 0 &&
        is(op::sigmoid, unconverted(p_, p_[n].in[0])))
      say(n, "is always true; did you mean > 0.5?");
  }

  const std::vector<bool> positions_;
};

}  // namespace

std::vector<slip> condition_slips(const program &p) { return condition_finder(p).run(); }

}  // namespace qkv::codegen
