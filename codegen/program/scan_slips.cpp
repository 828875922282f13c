// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/scan_slips.hpp"

#include "codegen/program/queries.hpp"
#include "codegen/program/signs.hpp"
#include "codegen/program/slip_finder.hpp"
#include "codegen/program/text.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

class scan_finder : slip_finder {
 public:
  explicit scan_finder(const program &p) : slip_finder(p), signs_(signs_of(p)) {}

  std::vector<slip> run() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      const node &x = p_[n];
      if (is(op::div, n)) decays_alone(n);
      if (is(op::mul, n)) turns_its_sign(n);
      if (x.kind != op::scan && x.kind != op::last) continue;
      extreme_from_zero(x.in[0], x.in[1]);
      unchanged(n, x.in[0], x.in[1]);
      normed_over_positions(n);
    }
    return std::move(slips_);
  }

 private:
  // [](auto s, auto k, auto v) { auto next = s + k * v; return std::pair{s, dot<d>(next, k)}; }
  void unchanged(node_id n, node_id state, node_id next) {
    if (next == state && p_[state].name.empty())
      say(n,
          "the next state is the state itself, so nothing is carried; did you mean to return the "
          "new state first?");
  }

  // unit_length<seq>(K), where the scan runs over seq: later positions have a part in its length.
  void normed_over_positions(node_id scan) {
    std::set<node_id> below;
    walk(p_, p_[scan].in[1], [&](node_id m) { return p_[m].kind != op::element; }, below);
    for (const node_id m : below) {
      const node_id normed = p_[m].kind == op::element ? of_all_positions(p_, m) : m;
      if (normed == m || (!is(op::mul, normed) && !is(op::div, normed))) continue;
      for (const std::size_t k : {0, 1})
        if (has_length_of(inner_of(p_, p_[normed].in[k]), p_[normed].in[1 - k], p_[scan].over[0]))
          return say(normed,
                     "has unit length over {0}, and a step of the scan over {0} knows no later "
                     "positions; did you mean the axis of features?",
                     names_of(p_, p_[scan].over));
    }
  }
  // True if the factor is made of the sum of squares of x over this axis.
  bool has_length_of(node_id x, node_id factor, axis_id over) const {
    return depends_on(
        p_, factor,
        [&](node_id m) {
          if ((!is(op::sum, m) && !is(op::mean, m)) || !has_root(p_[m].over, over)) return false;
          const node_id square = inner_of(p_, p_[m].in[0]);
          return is(op::mul, square) && inner_of(p_, p_[square].in[0]) == x &&
                 inner_of(p_, p_[square].in[1]) == x;
        },
        [&](node_id m) { return is_pointwise(p_[m].kind) || is_view(p_[m].kind); });
  }

  // state * (exp(dt) * -exp(a))
  void turns_its_sign(node_id n) {
    for (const std::size_t k : {0, 1}) {
      const node_id state = inner_of(p_, p_[n].in[k]),
                    factor = of_all_positions(p_, p_[n].in[1 - k]);
      if (p_[state].kind != op::carried || is_number(p_, factor)) continue;
      if (signs_[factor] != sign::not_positive) continue;
      return say(n,
                 "multiplies the state by {}, which is never positive, so that its sign turns at "
                 "each position; did you mean exp of a negative exponent?",
                 written_as(p_, factor));
    }
  }

  // num / den, where the state of num decays and that of den does not
  void decays_alone(node_id n) {
    const std::vector<node_id> above = sums_of(p_[n].in[0]), below = sums_of(p_[n].in[1]);
    if (above.size() != 1 || below.size() != 1 || above[0] == below[0]) return;
    if (p_[above[0]].over != p_[below[0]].over || decays(above[0]) == decays(below[0])) return;
    say(n,
        "divides one recurrence by another, but the state of {} alone is multiplied at each "
        "position; did you mean the same decay in both?",
        decays(above[0]) ? "the dividend" : "the divisor");
  }
  // The recurrences that add up what they are given, through products, sums and views. A running
  // maximum is a shift, which decays with neither of them.
  std::vector<node_id> sums_of(node_id n) const {
    std::set<node_id> below;
    std::vector<node_id> scans;
    walk(
        p_, n,
        [&](node_id m) {
          const op kind = p_[m].kind;
          if (is(op::scan, m) &&
              (decays(m) || has_term(m, [&](node_id t) { return t == inner_of(p_, p_[m].in[0]); })))
            scans.push_back(m);
          return kind != op::scan && kind != op::exp &&
                 (is_pointwise(kind) || is_view(kind) || kind == op::sum);
        },
        below);
    return scans;
  }
  // The next state is state * factor + ..
  bool decays(node_id scan) const {
    const node_id state = inner_of(p_, p_[scan].in[0]);
    return has_term(scan, [&](node_id m) {
      return p_[m].kind == op::mul &&
             (inner_of(p_, p_[m].in[0]) == state || inner_of(p_, p_[m].in[1]) == state);
    });
  }
  // True if a term of the next state is such.
  template <class Is>
  bool has_term(node_id scan, Is is_such) const {
    return depends_on(p_, p_[scan].in[1], is_such,
                      [&](node_id m) { return p_[m].kind == op::add || is_view(p_[m].kind); });
  }

  // scan<seq>(zeros<d>(), [](auto m, auto x) { return max(m, x); }, X): the maximum of negative
  // numbers is 0.
  void extreme_from_zero(node_id state, node_id next) {
    const node_id start = inner_of(p_, p_[state].in[0]);
    if (!is_number(p_, start) || p_[start].value != 0) return;
    const node &x = p_[next];
    const bool is_maximum = is(op::max, next);
    if (!is_maximum && !is(op::min, next)) return;
    for (const std::size_t k : {0, 1}) {
      const sign of_others = signs_[x.in[1 - k]];
      const bool starts_below = is_maximum && of_others == sign::not_negative;
      const bool starts_above = !is_maximum && of_others == sign::not_positive;
      if (inner_of(p_, x.in[k]) != state || starts_below || starts_above) continue;
      say(next, "the {} of the steps so far begins at 0; did you mean filled<..>({}infinity)?",
          is_maximum ? "maximum" : "minimum", is_maximum ? "-" : "");
      return;
    }
  }

  const std::vector<sign> signs_;
};

}  // namespace

std::vector<slip> scan_slips(const program &p) { return scan_finder(p).run(); }

}  // namespace qkv::codegen
