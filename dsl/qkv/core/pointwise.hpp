// SPDX-License-Identifier: BSL-1.0
#pragma once
// Shared by all operations on one position at a time: shapes, checks and marks of two operands.
#include <qkv/core/after_softmax.hpp>
#include <qkv/core/relation.hpp>
#include <qkv/core/slips.hpp>
#include <qkv/core/step.hpp>
#include <qkv/core/treatment.hpp>

namespace qkv::detail {

// The union, in the order of the larger shape.
constexpr axes larger_first(const axes &l, const axes &r) { return r.contains(l) ? r : l.with(r); }

constexpr axes pointwise_shape(const info &l, const info &r) { return larger_first(l.s, r.s); }

// x / sqrt(ax), or x * (1 / sqrt(ax)).
constexpr bool divides_by_root(op kind, const info &scale) {
  return scale.m.scale.root && kind == (scale.m.scale.inverse ? op::mul : op::div);
}
// x * sqrt(ax), or x / (1 / sqrt(ax)).
constexpr bool multiplies_by_root(op kind, const info &scale) {
  return scale.m.scale.root && kind == (scale.m.scale.inverse ? op::div : op::mul);
}

// True for the number of rows or keys of scores: features have a static size.
constexpr bool is_length_of(const info &scores, const axis_data *ax) {
  return scores.s.has(ax) && !scores.m.contracted.empty() &&
         (ax->is_alias ? ax->same_as : ax)->size == runtime;
}

// (dot<nope>(..) + dot<rope>(..)) / sqrt(d_qk) for queries and keys of both parts.
constexpr bool is_sum_of_sizes(const axis_data *ax, const axes &contracted) {
  int sum = 0;
  for (const axis_data *part : contracted) {
    if (part->size < 0) return false;
    sum += part->size;
  }
  return contracted.n > 1 && sum == ax->size;
}

// sqrt(ax) as a divisor names the features that were contracted, or those of a projection.
constexpr bool wrong_root(message &m, op kind, const info &x, const info &scale) {
  if (!divides_by_root(kind, scale) || !x.tensor()) return false;
  const axis_data *ax = scale.m.scale.root.at;
  const bool is_of_heads = ax->batch && !x.m.contracted.empty();
  const bool is_own = x.s.has(ax) && !is_length_of(x, ax) && !is_of_heads;
  if (x.m.contracted.has(ax) || is_own || is_sum_of_sizes(ax, x.m.contracted)) return false;
  if (!x.m.weights.empty()) {
    m.say("sqrt(", ax->name, "): ", x.label, " already holds weights over ", x.m.weights)
        .say("divide the scores before that; if it is meant, sqrt(size(", ax->name, "))")
        .show(x);
    return true;
  }
  m.say("sqrt(", ax->name, "): ", ax->name, " was not contracted here");
  if (x.m.contracted.empty()) {
    m.say("if it is meant, write sqrt(size(", ax->name, "))");
  } else if (x.m.contracted[0]->size < 0) {  // keys, not features
    m.say("did you mean to divide the scores before softmax? if it is meant, sqrt(size(", ax->name,
          "))");
  } else if (x.m.contracted.n == 2 && x.label.find(" + ") != sv::npos) {
    m.say("did you mean sqrt(size(", x.m.contracted[0]->name, ") + size(", x.m.contracted[1]->name,
          "))? if it is meant, sqrt(size(", ax->name, "))");
  } else {
    m.say("did you mean sqrt(", x.m.contracted[0]->name, ")? if it is meant, sqrt(size(", ax->name,
          "))");
  }
  m.show(x);
  return true;
}

// A scale is applied once, and divides.
constexpr bool scaled_again(message &m, op kind, const info &x, const info &scale) {
  const bool divides = divides_by_root(kind, scale), multiplies = multiplies_by_root(kind, scale);
  if (!divides && !multiplies) return false;
  const sv ax = scale.m.scale.root->name;
  if (x.m.scale.root && same_name(x.m.scale.root.at, scale.m.scale.root.at)) {
    m.say(x.label, " ", name_of(kind), " ", scale.label, ": the root of ", ax, " occurs twice")
        .say("did you mean size(", ax, ")?");
    return true;
  }
  if (!x.tensor()) return false;
  const bool are_cosines =
      is_done(x, treatment::cosines) || x.label.find("unit_length(") != sv::npos;
  if (multiplies && !are_cosines && x.m.contracted.has(scale.m.scale.root.at)) {
    m.say("sqrt(", ax, "): ", x.label, " is multiplied by the root of what it contracted")
        .say("did you mean / sqrt(", ax, ")? if it is meant, sqrt(size(", ax, "))")
        .show(x);
    return true;
  }
  if (multiplies || !x.m.scale.by || !same_name(x.m.scale.by.at, scale.m.scale.root.at))
    return false;
  m.say("sqrt(", ax, "): ", x.label, " was already divided by it")
      .say("leave one out; if it is meant, sqrt(size(", ax, "))")
      .show(x);
  return true;
}

// Arithmetic takes no truth values.
constexpr bool adds_truth(message &m, op kind, const info &l, const info &r) {
  if (l.m.type != b8 && r.m.type != b8) return false;
  const sv name = name_of(kind);
  const info &keep = l.m.type == b8 ? l : r, &x = l.m.type == b8 ? r : l;
  if (x.m.type == b8) {
    m.say(name, ": ", l.label, " and ", r.label, " are b8, not numbers");
    if (kind == op::add)
      m.say("did you mean ", l.label, " and ", r.label, ", or ", l.label, " or ", r.label, "?");
    else if (kind == op::mul || kind == op::min)
      m.say("did you mean ", l.label, " and ", r.label, "?");
    else
      m.say("did you mean ", l.label, " != ", r.label, "?");
  } else {
    m.say(name, ": ", keep.label, " is b8, not a number");
    if (x.tensor() && x.s.contains(keep.s) && (kind == op::add || kind == op::mul))
      m.say("did you mean mask(", x.label, ", ", keep.label, ")?");
    if (kind == op::sub && l.number()) m.say("did you mean !", keep.label, "?");
    m.say("if it is meant, where(", keep.label, ", 1, 0) is a number");
  }
  m.show(l, r);
  return true;
}

// scores + cast<f32>(causal<seq, kv>): a condition as a number hides nothing.
constexpr bool adds_condition(message &m, const info &x, const info &keep) {
  if (!keep.m.hidden.gated || !keep.m.sides.query || !is_call(keep.label, "cast(")) return false;
  if (x.m.contracted.empty() || !x.s.contains(keep.s)) return false;
  const sv condition = keep.label.substr(5, keep.label.size() - 6);
  m.say("+: ", keep.label, " is 1 where ", condition, " holds and 0 elsewhere, so it hides nothing")
      .say("did you mean mask(", x.label, ", ", condition, ")? if it is meant, where(", condition,
           ", 1, 0)")
      .show(x, keep);
  return true;
}

// A bias that is added to weights was meant for their scores.
constexpr bool biases_weights(message &m, op kind, const info &w, const info &term) {
  if (kind != op::add || w.m.weights.empty() || !term.m.weights.empty() || term.s.empty())
    return false;
  const bool bias = term.m.given || term.m.param || term.m.sides.placed.query;
  if (!bias) return false;
  m.say("+: ", term.label, " is added to weights over ", w.m.weights)
      .say("add it to the scores before softmax; if it is meant, plain(..) of the weights")
      .show(w, term);
  return true;
}

// Positions of an axis that the score, which has rows and keys, does not have.
constexpr bool foreign_index(message &m, const call_name &call, const info &x, const info &index) {
  if (!index.index() || !x.tensor() || x.m.contracted.empty() || x.s.contains(index.s) ||
      x.s.non_batch().n < 2)
    return false;
  const axis_data *ax = index.s.without(x.s)[0];
  m.say(call, ": ", index.label, " varies along ", ax->name, ", which ", x.label, " lacks").show(x);
  return true;
}

constexpr bool adds(op kind) { return kind == op::add || kind == op::sub; }

// Scores and a bias, or data and positions, that have two different axes where one is meant.
constexpr bool has_other_axis(message &m, sv name, const info &l, const info &r) {
  const bool of_scores = l.m.contracted.empty() != r.m.contracted.empty();
  const bool left_is_term = of_scores && l.m.contracted.empty();
  const info &term = left_is_term ? l : r, &x = left_is_term ? r : l;
  message fix;
  if (!(of_scores && !x.m.projected.made ? say_other_axis(fix, term, x)
                                         : say_other_positions(fix, term, x)))
    return false;
  m.say(name, ": ", term.label, " varies along ", term.s.without(x.s), ", ", x.label, " along ",
        x.s.without(term.s).non_batch())
      .say(fix)
      .say("if it is meant, broadcast<", term.s.without(x.s), ">(", x.label, ") and broadcast<",
           x.s.without(term.s), ">(", term.label, ")")
      .show(l, r);
  return true;
}

// Neither shape contains the other.
constexpr bool unrelated(message &m, op kind, const info &l, const info &r) {
  if (l.s.contains(r.s) || r.s.contains(l.s)) return false;
  const axes only_l = l.s.without(r.s), only_r = r.s.without(l.s);
  const sv name = name_of(kind);
  if (l.m.param != r.m.param) {
    const info &bias = l.m.param ? l : r, &x = l.m.param ? r : l;
    m.say(name, ": ", bias.label, " varies along ", bias.s.without(x.s), ", which ", x.label,
          " lacks");
    if (adds(kind)) say_other_axis(m, bias, x);
    if (x.m.contracted.empty())
      m.say("if it is meant, write broadcast<", bias.s.without(x.s), ">(", x.label, ")");
    m.show(l, r);
    return true;
  }
  if (adds(kind) && has_other_axis(m, name, l, r)) return true;
  m.say(name, ": neither side contains the other");
  const axes both = l.s.common(r.s).non_batch();
  const bool may_contract = kind == op::mul && both.n == 1 && l.tensor() && r.tensor() &&
                            !l.label.starts_with("broadcast(") &&
                            !r.label.starts_with("broadcast(");
  if (may_contract) m.say("did you mean dot<", both[0]->name, ">(", l.label, ", ", r.label, ")?");
  const bool was_renamed = l.label.starts_with("rename(") || r.label.starts_with("rename(");
  if (only_l.n == 1 && only_r.n == 1 && same_name(root_of(only_l[0]), root_of(only_r[0])) &&
      !was_renamed) {
    m.say(may_contract ? "or " : "did you mean ", "rename<", only_r, ", ", only_l, ">(", r.label,
          ")?");
  } else {
    m.say("if it is meant, broadcast<", only_r, ">(", l.label, ") and broadcast<", only_l, ">(",
          r.label, ")");
  }
  m.show(l, r);
  return true;
}

// A bias of keys, the same for each of the queries, as of their positions: the keys are an alias of
// the queries.
constexpr bool is_bias_of_keys(const info &term, const axes &rows) {
  if (!term.m.contracted.empty()) return false;
  for (const axis_data *row : rows) {
    bool has_keys = false;
    for (const axis_data *key : term.s)
      has_keys = has_keys || (key->is_alias && same_name(key->same_as, row));
    if (!has_keys) return false;
  }
  return true;
}

// A sum repeats data only where people mean it to.
constexpr bool repeated(message &m, op kind, const info &l, const info &r) {
  const bool left_is_larger = l.s.contains(r.s);
  const info &small = left_is_larger ? r : l;
  const info &large = left_is_larger ? l : r;
  const axes lacking = large.s.without(small.s).non_batch();
  const bool of_the_same = !small.m.statistic.empty() &&
                           large.m.contracted.contains(small.m.statistic);  // |x|^2 - 2 x y
  if (lacking.empty() || small.s.empty() || small.m.param || small.m.given || of_the_same ||
      small.m.statistic.contains(lacking) || is_bias_of_keys(small, lacking) ||
      large.m.lacks.factor.contains(lacking))  // x * (1 + scale) + shift
    return false;
  m.say(name_of(kind), ": ", small.label, " would be repeated along ", lacking);
  const bool are_scores =
      !large.m.contracted.empty() && large.m.weights.empty() && !large.m.projected.made;
  if (kind == op::add && are_scores)
    m.say("in a softmax over ", lacking, " it cancels");
  else if (is_call(small.label, "take(") && lacking.n == 1)
    m.say("did you mean a row for each position, as .. + index(", lacking, ")?");
  m.say("if it is meant, write broadcast<", lacking, ">(", small.label, ")").show(l, r);
  return true;
}

constexpr bool is_logic(op kind) {
  return is_comparison(kind) || kind == op::and_ || kind == op::or_;
}

// Weights stay weights unless the result varies along further axes that are not batch axes.
constexpr axes kept_weights(const info &l, const info &r, const axes &shape) {
  axes kept;
  const bool alike =
      l.m.weights.empty() || r.m.weights.empty() || l.m.weights.same_set(r.m.weights);
  for (const info *x : {&l, &r})
    if (alike && shape.without(x->s).non_batch().empty()) kept.add(x->m.weights);
  return kept;
}

// exp(x) / sum<kv>(exp(x)): weights, as softmax<kv> gives them; weights over other axes, too. Where
// dots stand for x, it is taken for the same.
constexpr bool shares(const info &l, const info &r) {
  return (l.label.starts_with("exp(") || !l.m.weights.empty()) &&
         r.label == call_label(name_of(op::sum), l.label).view();
}

// sum(x * x)
constexpr bool is_sum_of_squares(sv label) {
  constexpr sv open = "sum(", times = " * ";
  if (!label.starts_with(open) || !label.ends_with(')')) return false;
  const sv product = label.substr(open.size(), label.size() - open.size() - 1);
  if (product.size() <= times.size()) return false;
  const std::size_t half = (product.size() - times.size()) / 2;
  return product.substr(half, times.size()) == times &&
         product.substr(0, half) == product.substr(half + times.size());
}

// Axes along which a term added to a score is constant, so that it would cancel in softmax. Numbers
// and statistics may, and the squares in a distance: |q|^2 - 2 q k + |k|^2.
constexpr axes constant_along(const info &term, const info &score, const axes &shape) {
  if (!score.tensor() || term.s.empty()) return {};
  if (is_sum_of_squares(term.label) && score.m.contracted.contains(term.m.statistic)) return {};
  return shape.without(term.s).without(term.m.statistic);
}

// Axes along which a factor that is computed repeats.
constexpr axes repeated_along(const info &factor, const axes &shape) {
  if (factor.s.empty() || factor.m.param) return {};
  return shape.without(factor.s).without(factor.m.statistic).non_batch();
}

// Reduced over the same axes, as far as no param decides.
constexpr axes common_statistic(const info &l, const info &r) {
  if (l.param() || r.param()) return l.param() ? r.m.statistic : l.m.statistic;
  return l.m.statistic.common(r.m.statistic);
}

// Scores keep their scale. Their squares, and what is added to those, are other numbers:
// 1 + s + s * s / 2.
constexpr maybe_axis scaled_by(op kind, const info &l, const info &r) {
  if (kind == op::mul && l.m.scale.by && l.label == r.label) return {};
  const bool are_powers = !l.m.contracted.empty() && l.m.contracted == r.m.contracted;
  if (adds(kind) && are_powers && bool(l.m.scale.by) != bool(r.m.scale.by)) return {};
  return l.m.scale.by ? l.m.scale.by : r.m.scale.by;
}

// A sum is 0 only where both terms are, a product where one factor is.
constexpr hiding binary_hiding(op kind, const info &l, const info &r) {
  const hiding &a = l.m.hidden, &b = r.m.hidden;
  hiding h;
  h.masked = a.masked.with(b.masked);
  h.zeroed = a.zeroed.with(b.zeroed);
  h.dropped = a.dropped || b.dropped;
  if (adds(kind) && a.gated != b.gated) h.zeroed = (a.gated ? b : a).zeroed;
  h.gated = kind == op::mul ? a.gated || b.gated : kind == op::div && a.gated;
  if (kind != op::mul) return h;
  for (const info *gate : {&l, &r})
    if (gate->m.hidden.gated && gate->m.hidden.zeroed.empty()) h.zeroed.add(gate->s.non_batch());
  return h;
}

constexpr scaling binary_scale(op kind, const info &l, const info &r) {
  scaling s;
  if (!is_logic(kind)) s.by = scaled_by(kind, l, r);
  if (l.tensor() && divides_by_root(kind, r)) s.by = r.m.scale.root;
  if (r.tensor() && kind == op::mul && divides_by_root(kind, l)) s.by = l.m.scale.root;
  if (kind == op::div && l.number() && r.m.scale.root && !r.m.scale.inverse) {
    s.root = r.m.scale.root;
    s.inverse = true;
  }
  return s;
}

constexpr constancy binary_constancy(op kind, const info &l, const info &r, const axes &shape) {
  const constancy &a = l.m.lacks, &b = r.m.lacks;
  constancy c;
  c.mask = a.mask.with(b.mask);
  c.apart = a.apart || b.apart || a.mask.crosses(b.mask);
  if (adds(kind)) {
    const axes left = a.bias.with(constant_along(l, r, shape));
    const axes right = b.bias.with(constant_along(r, l, shape));
    c.bias = left.with(right);
    c.apart = c.apart || left.crosses(right);
  } else if (kind == op::mul) {
    c.factor = repeated_along(l, shape).with(repeated_along(r, shape));
    c.bias = a.bias.without(r.s).with(b.bias.without(l.s));
  } else if (kind == op::div) {
    c.bias = a.bias.without(r.s);
  }
  return c;
}

constexpr marks binary_marks(op kind, const info &l, const info &r) {
  const axes shape = pointwise_shape(l, r);
  marks m;
  m.type = result_type(kind, l.m.type, r.m.type);
  m.param = (l.tensor() || r.tensor()) && l.param() && r.param();
  m.contracted = l.m.contracted.with(r.m.contracted);
  m.statistic = common_statistic(l, r);
  if (kind == op::max || kind == op::min)  // so far: max(top, max<kv>(scores))
    m.statistic = l.m.statistic.with(r.m.statistic).without(shape);
  m.lacks = binary_constancy(kind, l, r, shape);
  m.hidden = binary_hiding(kind, l, r);
  m.scale = binary_scale(kind, l, r);
  m.split = (l.m.split.first ? l : r).m.split;
  m.sides = sides_of(l, r);
  m.done = done_by(kind, l, r);
  m.projected.made = (l.m.projected.made && r.m.param) || (r.m.projected.made && l.m.param);
  m.quotient = (l.m.quotient || r.m.quotient) && !is_logic(kind);
  if (kind == op::div && l.m.type == i32 && !l.s.empty() && r.m.type == i32) m.quotient = true;
  m.given = (l.m.given || !l.tensor()) && (r.m.given || !r.tensor()) &&
            (is_logic(kind) || l.tensor() != r.tensor());
  if (!is_logic(kind))
    m.weights = kind == op::div && shares(l, r) ? r.m.statistic : kept_weights(l, r, shape);
  return m;
}

}  // namespace qkv::detail
