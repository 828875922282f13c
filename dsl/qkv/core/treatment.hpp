// SPDX-License-Identifier: BSL-1.0
#pragma once
// Checks of the treatment of a step along an axis, where it meets another step or another axis.
#include <qkv/core/label.hpp>
#include <qkv/core/message.hpp>

namespace qkv::detail {

using core::treated, core::treatment;

constexpr bool is_done(const info &x, treatment by) { return x.m.done.by == by; }
constexpr bool is_done(const info &x, treatment by, const axes &over) {
  return is_done(x, by) && over.has(x.m.done.along);
}
constexpr bool is_rotated(const info &x) {
  return x.m.done.by >= treatment::rotated && x.m.done.by <= treatment::turned_2;
}
constexpr bool is_rotated(const info &x, const axes &over) {
  return is_rotated(x) && over.has(x.m.done.along);
}
constexpr bool is_turned(const info &x, const axes &over) {
  return is_done(x, treatment::turned, over) || is_done(x, treatment::turned_2, over);
}
constexpr bool is_counted(const info &x) {
  return is_done(x, treatment::counted) || is_done(x, treatment::counted_2);
}

// x - max<kv>(x) or x - mean<kv>(x).
constexpr bool subtracts(sv reduction, const info &x, const info &r) {
  return r.m.statistic.n == 1 && r.label.starts_with(reduction) &&
         r.label == call_label(reduction, x.label).view();
}

// Of an operator's result.
constexpr treated done_by(op kind, const info &l, const info &r) {
  if (kind == op::sub && subtracts("max", l, r)) return {treatment::shifted, r.m.statistic[0]};
  if (kind == op::sub && subtracts("mean", l, r)) return {treatment::centred, r.m.statistic[0]};
  if (kind == op::mul && is_done(l, treatment::centred) && is_done(r, treatment::centred) &&
      same_name(l.m.done.along, r.m.done.along))
    return {treatment::deviation, l.m.done.along};
  const treated &done = l.m.done.by == treatment::none ? r.m.done : l.m.done;
  const bool scales = kind == op::mul || kind == op::div;
  const bool scores = !l.m.contracted.empty() || !r.m.contracted.empty();
  switch (done.by) {
    case treatment::unit:
    case treatment::rotated:
    case treatment::turned:
    case treatment::rotated_2:
    case treatment::turned_2:
    case treatment::cosines:
      return scales ? done : treated{};
    case treatment::counted:
    case treatment::counted_2:
      return scores && (scales || kind == op::add || kind == op::sub) ? done : treated{};
    default:
      return {};
  }
}

// Of a product's result: exp shifted by its maximum, or features rotated or of unit length.
constexpr treated done_by_dot(const axes &over, const info &l, const info &r) {
  for (const info *x : {&l, &r})
    if (is_done(*x, treatment::shifted, over) && x->label.starts_with("exp(")) return x->m.done;
  if (is_done(l, treatment::unit, over) && is_done(r, treatment::unit, over))
    return {treatment::cosines, l.m.done.along};
  const bool of_l = is_turned(l, over), of_r = is_turned(r, over);
  if (of_l && of_r) return {treatment::counted_2, r.m.done.from, l.m.done.from};
  return of_l || of_r ? treated{treatment::counted, nullptr, (of_l ? l : r).m.done.from}
                      : treated{};
}

// exp(x - max<seq>(x)) adds up over seq: along another axis, each element is scaled by its own
// factor.
constexpr bool shifted_elsewhere(message &m, const call_name &call, const info &x) {
  if (!is_done(x, treatment::shifted) || is_done(x, treatment::shifted, call.over) ||
      !x.label.starts_with("exp("))
    return false;
  m.say(call, ": ", x.label, " was shifted by the maximum over ", x.m.done.along->name)
      .say("did you mean ", call.name, "<", x.m.done.along->name, ">(..) here, or max<", call.over,
           "> there? if it is meant, plain(..)")
      .show(x);
  return true;
}

// mean<d>(c * c), where c is x - mean<seq>(x).
constexpr bool centred_elsewhere(message &m, const call_name &call, const info &x) {
  if (!is_done(x, treatment::deviation) || is_done(x, treatment::deviation, call.over))
    return false;
  const sv along = x.m.done.along->name;
  m.say(call, ": ", x.label, " are squares of distances from the mean over ", along)
      .say("did you mean ", call.name, "<", along, ">(..) here, or mean<", call.over,
           ">(..) in the difference? if it is meant, plain(..)")
      .show(x);
  return true;
}

// Terms of exp(x) / sum(exp(y)), or of dot(exp(x), V) / sum(exp(y)), that one of x and y lacks.
constexpr bool sums_others(message &m, const info &l, const info &r) {
  if (!is_call(r.label, "sum(exp(") || r.m.statistic.n != 1) return false;
  const axis_data *along = r.m.statistic[0];
  const bool weights = l.label.starts_with("exp(") && l.s.has(along);
  if (!weights && !(l.label.starts_with("dot(exp(") && l.m.contracted.has(along))) return false;
  const bool masked = weights ? l.m.hidden.masked.has(along) : l.m.hidden.left_out;
  const bool shifted = is_done(l, treatment::shifted, one_axis(along));
  const bool lacks_mask = masked != r.m.hidden.left_out;
  const bool lacks_shift = shifted != is_done(r, treatment::shifted, one_axis(along));
  if (!lacks_mask && !lacks_shift) return false;
  const bool left = lacks_mask ? masked : shifted;
  m.say("/: ", left ? l.label : r.label,
        lacks_mask ? " leaves out what a mask hides, but " : " had the maximum subtracted, but ",
        left ? r.label : l.label, lacks_mask ? " does not" : " had not")
      .say("give both the same scores; if it is meant, let<\"total\">(", r.label, ")")
      .show(l, r);
  return true;
}

// mask(x) - logsumexp(y), where y is not masked.
constexpr bool lacks_mask_of(message &m, const info &x, const info &lse) {
  if (!lse.label.starts_with("logsumexp(") || lse.m.statistic.n != 1) return false;
  const axis_data *along = lse.m.statistic[0];
  if (!x.s.has(along) || !x.m.hidden.masked.has(along) || lse.m.hidden.left_out) return false;
  m.say("-: ", x.label, " is masked along ", along->name, ", but what ", lse.label,
        " adds up is not")
      .say("give both the same scores; if it is meant, let<\"total\">(", lse.label, ")")
      .show(x, lse);
  return true;
}

// A query that was rotated by its position, and a key that was projected and nothing else.
constexpr bool not_rotated(message &m, const axes &over, const info &x, const info &y) {
  if (!is_rotated(x, over) || !y.m.projected.made || y.m.done.by != treatment::none) return false;
  m.say("dot<", over, ">: ", x.label, " was rotated by its positions, but ", y.label, " was not")
      .say("rotate both; if it is meant, plain(", x.label, ")")
      .show(x, y);
  return true;
}

// A query rotated by halves of the features, a key by neighbours.
constexpr bool pairs_differ(message &m, const axes &over, const info &l, const info &r) {
  if (!is_rotated(l, over) || !is_rotated(r, over)) return false;
  const bool halves = l.m.done.by <= treatment::turned;
  if (halves == (r.m.done.by <= treatment::turned)) return false;
  m.say("dot<", over, ">: ", l.label, " was rotated in pairs of ", halves ? "halves" : "neighbours",
        ", ", r.label, " in pairs of ", halves ? "neighbours" : "halves")
      .say("use one of rope and rope_interleaved; if it is meant, plain(", l.label, ")")
      .show(l, r);
  return true;
}

// Values that were rotated, as queries and keys are.
constexpr bool rotates_values(message &m, const axes &over, const info &w, const info &x) {
  if (w.m.weights.common(over).empty() || !is_rotated(x) || is_rotated(x, over)) return false;
  m.say("dot<", over, ">: the values ", x.label, " were rotated by their positions")
      .say("rotate queries and keys alone; if it is meant, plain(..) of the values")
      .show(x);
  return true;
}

// Both have unit length, but not over the features that are contracted.
constexpr bool unit_elsewhere(message &m, const axes &over, const info &l, const info &r) {
  if (!is_done(l, treatment::unit) || !is_done(r, treatment::unit)) return false;
  const bool l_fits = over.has(l.m.done.along), r_fits = over.has(r.m.done.along);
  const bool positions = l.m.done.along->size < 0 && over[0]->size >= 0;
  if (l_fits ? r_fits : !r_fits && !positions) return false;
  const info &x = l_fits ? r : l;
  m.say("dot<", over, ">: ", x.label, " has unit length over ", x.m.done.along->name)
      .say("did you mean unit_length<", over, ">? if it is meant, plain(", x.label, ")")
      .show(l, r);
  return true;
}

// Queries rotated as if they were the first, and a mask that makes them the last of a cache.
constexpr bool rotates_from_0(message &m, const call_name &call, const info &scores,
                              const info &keep) {
  const core::placing &p = keep.m.sides.placed;
  const bool of_cache = p.from == core::origin::length || p.from == core::origin::count;
  if (!of_cache || !is_counted(scores)) return false;
  const treated &done = scores.m.done;
  if (!same_name(done.from, p.query.at) &&
      !(done.by == treatment::counted_2 && same_name(done.along, p.query.at)))
    return false;
  const sv query = p.query->name;
  m.say(call, ": ", query, " was rotated by positions from 0, but ", keep.label,
        " places it at the end of a cache")
      .say("take cos and sin from tables at length - size(", query, ") + index(", query,
           "); if it is meant, plain(..) of the scores")
      .show(scores);
  return true;
}

}  // namespace qkv::detail
