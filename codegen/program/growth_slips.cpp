// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/growth_slips.hpp"

#include <algorithm>
#include <optional>

#include "codegen/program/position_sets.hpp"
#include "codegen/program/projections.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/score_keys.hpp"
#include "codegen/program/signed_distance.hpp"
#include "codegen/program/signs.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class growth_finder : slip_finder {
 public:
  explicit growth_finder(const program &p)
      : slip_finder(p), positions_(steps_of_positions(p)), signs_(signs_of(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!p_[n].name.empty()) continue;
      if (p_[n].kind == op::mul) state_grows(n), first_slope(n);
      if (p_[n].kind == op::exp) square_grows(n);
      if (p_[n].kind == op::exp || p_[n].kind == op::pow) decay_grows(n);
      if (p_[n].kind == op::sub) prefix_grows(n);
    }
    return std::move(slips_);
  }

 private:
  // scores + pow(2, index(heads) * -8.0 / size(heads)) * (index(kv) - index(seq))
  void first_slope(node_id n) {
    const bool is_of_number = depends_on(p_, n, [&](node_id m) { return p_[m].kind == op::size; });
    const auto adds = [&](node_id user) {
      return is(op::add, user) || (is(op::sub, user) && is_of_number);
    };
    if (std::none_of(users_[n].begin(), users_[n].end(), adds)) return;
    for (const std::size_t k : {0, 1}) {
      const node_id slope = inner_of(p_, p_[n].in[k]);
      node_id distance = inner_of(p_, p_[n].in[1 - k]);
      while (is(op::neg, distance) || is(op::abs, distance))
        distance = inner_of(p_, p_[distance].in[0]);
      if (!is(op::pow, slope) || !difference_in(affine_of(p_, distance).form)) continue;
      const node_id head = unconverted(p_, unscaled(p_, p_[slope].in[1]));
      const node_id base = inner_of(p_, p_[slope].in[0]);
      if (p_[head].kind != op::index || !is_number(p_, base) || p_[base].value != 2) continue;
      say(slope, "the slope of the first of {} is 1; did you mean index({}) + 1?",
          names_of(p_, p_[head].over), names_of(p_, p_[head].over));
    }
  }

  // S * exp(sigmoid(g)) or S * (1 + exp(g)), from which the next state of a scan is computed.
  void state_grows(node_id n) {
    for (const std::size_t k : {0, 1}) {
      const node_id gate = of_all_positions(p_, p_[n].in[1 - k]);
      if (p_[inner_of(p_, p_[n].in[k])].kind != op::carried || !is_carried_on(n)) continue;
      if (is(op::exp, gate) && is_raw_step(inner_of(p_, p_[gate].in[0])))
        say(n,
            "{} is above 1 where the projection in it is negative, so that the state grows; did "
            "you mean softplus(..) of the projection?",
            written_as(p_, gate));
      forgets_at_once(n, gate);
      const std::string instead = instead_of_growth(gate);
      if (instead.empty()) continue;
      say(n, "{} is at least 1, so that the state grows at every step; did you mean {}?",
          written_as(p_, gate), instead);
    }
  }
  // S * pow(sigmoid(g), 16)
  void forgets_at_once(node_id n, node_id gate) {
    if (!is(op::pow, gate) || !is(op::sigmoid, of_all_positions(p_, p_[gate].in[0]))) return;
    const node_id exponent = inner_of(p_, p_[gate].in[1]);
    if (!is_number(p_, exponent) || p_[exponent].value < 4) return;
    say(n,
        "{} is nearly 0, so that the state is forgotten at once; did you mean the power 1.0 / "
        "{:g}?",
        written_as(p_, gate), p_[exponent].value);
  }
  // A factor of at most 1 in place of one of at least 1. Empty for other factors.
  std::string instead_of_growth(node_id gate) const {
    const node &x = p_[gate];
    if (is(op::exp, gate) && signs_[x.in[0]] == sign::not_negative && !is_number(p_, x.in[0])) {
      const node_id exponent = inner_of(p_, x.in[0]);
      if (is(op::neg, exponent)) return "exp(" + written_as(p_, p_[exponent].in[0]) + ")";
      return "exp(-" + written_as(p_, x.in[0]) + ")";
    }
    return adds_one(p_, signs_, gate) ? "1 / (" + written_as(p_, gate) + ")" : "";
  }

  // A * dt, where A is never positive and dt a projection that may be
  bool is_raw_step(node_id n) const {
    if (!is(op::mul, n)) return false;
    for (const std::size_t k : {0, 1}) {
      const node_id step = without_bias(p_, of_all_positions(p_, p_[n].in[k]));
      if (is(op::dot, step) && signs_[p_[n].in[1 - k]] == sign::not_positive &&
          signs_[step] == sign::unknown)
        return true;
    }
    return false;
  }

  bool is_carried_on(node_id n) const {
    bool found = false;
    walk_users(users_, n, [&](node_id user, node_id x) {
      const bool ends = p_[user].kind == op::scan || p_[user].kind == op::last;
      found = found || (ends && p_[user].in[1] == x);
      return !ends;
    });
    return found;
  }

  // exp(away * away / 8), where away is a distance.
  void square_grows(node_id n) {
    node_id square = inner_of(p_, p_[n].in[0]);
    while (is_scaled_up(square)) square = inner_of(p_, p_[square].in[0]);
    const bool is_square = (is(op::mul, square) && are_equal(p_[square].in[0], p_[square].in[1])) ||
                           (is(op::pow, square) && p_[p_[square].in[1]].value == 2);
    if (!is_square) return;
    const node_id base = inner_of(p_, p_[square].in[0]);
    const signed_distance away = distance_of(p_, signs_, positions_, base);
    const bool is_from_place =
        is(op::sub, base) && (positions_[p_[base].in[0]] != positions_[p_[base].in[1]]);
    if (is_from_place || (away.factor != 0 && difference_in(away.of)))
      say(n, "grows with the square of the distance; did you leave out a minus?");
  }
  // Positions may be written in two ways: index(kv) - index(seq) and -index(seq) + index(kv).
  bool are_equal(node_id a, node_id b) const {
    a = unconverted(p_, a), b = unconverted(p_, b);
    if (a == b || p_[a].type != i32 || p_[b].type != i32) return a == b;
    const affine x = affine_of(p_, a), y = affine_of(p_, b);
    return x.form == y.form && x.number == y.number;
  }
  // True if a number that is not negative multiplies or divides it, written on its right.
  bool is_scaled_up(node_id n) const {
    return (is(op::mul, n) || is(op::div, n)) && p_[p_[n].in[1]].shape.empty() &&
           signs_[p_[n].in[1]] == sign::not_negative && p_[n].in[0] != p_[n].in[1];
  }

  // mask(scores * exp(-0.05 * (index(kv) - index(seq))), causal<seq, kv>)
  void decay_grows(node_id n) {
    const bool is_power = p_[n].kind == op::pow;
    const bool is_of_gate = is_power && is_share(inner_of(p_, p_[n].in[0]));
    const bool is_of_number = is_power && is(op::number, p_[n].in[0]);
    const double base = is_of_number ? p_[p_[n].in[0]].value : is_of_gate ? 0.5 : 0;
    if (is_power && (base <= 0 || base == 1)) return;
    const node_id exponent = p_[n].in[is_power ? 1 : 0];
    signed_distance d = distance_of(p_, signs_, positions_, exponent);
    if (is_power && base < 1) d.factor = -d.factor;
    if (d.factor == 0 || !difference_in(d.of)) return;
    for (node_id condition : conditions_of(n))
      if (grows_where(d, condition)) {
        say(n, "grows with the distance where {} is true; did you mean the opposite sign?",
            written_as(p_, condition));
        return;
      }
  }

  // scores + (rename<seq, kv>(c) - c), where c = cumsum<seq>(log(sigmoid(f)))
  void prefix_grows(node_id n) {
    const node_id c = inner_of(p_, p_[n].in[0]);
    if (!is(op::cumsum, c) || c != inner_of(p_, p_[n].in[1])) return;
    const std::vector<axis_id> keys = keys_of_scores(p_, users_, n);
    const auto is_added = [&](node_id user) {
      return is(op::add, user) || p_[user].kind == op::mask;
    };
    if (keys.size() != 1 || !std::all_of(users_[n].begin(), users_[n].end(), is_added)) return;
    const sign steps = signs_[p_[c].in[0]];
    const auto varies = [&](std::size_t operand) {
      return has(p_[unbroadcast(p_, p_[n].in[operand])].shape, keys[0]);
    };
    if (steps == sign::unknown || varies(0) == varies(1)) return;
    const bool is_of_query_first = varies(1);
    if ((steps == sign::not_negative) != is_of_query_first) return;
    const node_id step = p_[c].in[0];
    if (is(op::sigmoid, inner_of(p_, step)))
      say(n, "grows with the distance; did you mean cumsum<{}>(log({}))?", names_of(p_, p_[c].over),
          written_as(p_, step));
    else
      say(n, "grows with the distance; did you exchange its operands?");
  }

  // sigmoid(x), or 1 less what is not negative
  bool is_share(node_id n) const {
    if (is(op::sigmoid, n)) return true;
    return is(op::sub, n) && is_number(p_, inner_of(p_, p_[n].in[0])) &&
           p_[inner_of(p_, p_[n].in[0])].value == 1 && signs_[p_[n].in[1]] == sign::not_negative;
  }

  // The conditions of the masks that products with this step go into.
  std::vector<node_id> conditions_of(node_id n) const {
    std::vector<node_id> found;
    walk_users(users_, n, [&](node_id user, node_id x) {
      const node &u = p_[user];
      if (u.kind == op::mask && u.in[0] == x) found.push_back(u.in[1]);
      if (u.kind == op::where && u.in[1] == x) found.push_back(u.in[0]);
      if (u.kind == op::mul)
        for (const node_id scores : u.in)
          if (is(op::mask, inner_of(p_, scores))) found.push_back(p_[inner_of(p_, scores)].in[1]);
      return u.kind == op::mul || u.kind == op::broadcast;
    });
    return found;
  }

  bool grows_where(signed_distance d, node_id condition) const {
    if (d.of.begin()->second < 0) d.of = negative(d.of), d.factor = -d.factor;
    const std::vector<position_set> shown = positions_where(p_, condition, true);
    return !shown.empty() && std::all_of(shown.begin(), shown.end(), [&](const position_set &s) {
      const auto it = s.find(d.of);
      if (it == s.end()) return false;
      const interval &i = it->second;
      return d.factor > 0 ? i.least >= 0 && i.most == interval::infinite
                          : i.most <= 0 && i.least == -interval::infinite;
    });
  }

  const std::vector<bool> positions_;
  const std::vector<sign> signs_;
};

}  // namespace

std::vector<slip> growth_slips(const program &p) { return growth_finder(p).run(); }

}  // namespace qkv::codegen
