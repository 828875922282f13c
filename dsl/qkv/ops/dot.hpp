// SPDX-License-Identifier: BSL-1.0
#pragma once
// Contraction.
#include <qkv/core/call.hpp>
#include <qkv/core/treatment.hpp>

namespace qkv {
namespace detail::rule {

struct dot {
  axes over{};
  static constexpr sv call = "dot<axes..>(x, y)";
  static constexpr op kind = op::dot;

  constexpr text check(const info &l, const info &r) const {
    message m;
    const call_name call{"dot", over};
    if (!l.tensor() && needs_input(m, call, r)) return m;
    if (over.empty()) {
      m.say("dot: names no axis to contract");
      if (const axes both = l.s.common(r.s).non_batch(); both.n == 1)
        m.say("did you mean dot<", both, ">(", l.label, ", ", r.label, ")?");
      return m.show(l, r);
    }
    for (const axis_data *a : over)
      if (!l.s.has(a) || !r.s.has(a)) return lacks(m, call, a, l, r);
    if (sizes_differ(m, call, l, r) || mixed_precision(m, call, l, r)) return m;
    if (contracts_truth(m, call, l) || contracts_truth(m, call, r)) return m.show(l, r);
    for (const axis_data *a : over)
      if (other_axis(m, call, a, l)) return m;
    for (const axis_data *a : l.s.common(r.s)) {
      if (!over.has(a) && !a->batch) {
        m.say(call, ": both sides carry ", a->name);
        if (l.m.given && r.m.given) {
          m.say("declare one of them over an alias<.., ", a->name, ">, or ", a->name,
                " as a batch axis");
        } else {
          m.say("rename one side or make it a batch axis: rename<", a->name, ", ...>(", r.label,
                ")");
          side_by_side(m, a, l, r);
        }
        return m.show(l, r);
      }
      if (over.has(a) && a->batch && !may_add_up(a, l) && !may_add_up(a, r))
        return adds_up(m, a, l, r);
    }
    if (split_otherwise(m, l, r) || scaled_on_both_sides(m, l, r)) return m.show(l, r);
    if (over_other_weights(m, l, r) || over_other_weights(m, r, l)) return m.show(l, r);
    if (part_of_weights(m, l) || part_of_weights(m, r)) return m.show(l, r);
    if (loses_weights(m, l, r) || loses_weights(m, r, l)) return m.show(l, r);
    if (weighs_scores(m, l, r) || weighs_scores(m, r, l)) return m.show(l, r);
    if (not_rotated(m, over, l, r) || not_rotated(m, over, r, l) || pairs_differ(m, over, l, r) ||
        rotates_values(m, over, l, r) || rotates_values(m, over, r, l) ||
        unit_elsewhere(m, over, l, r))
      return m;
    if (too_many_axes(m, call, shape(l, r))) m.show(l, r);
    return m;
  }

  constexpr text lacks(message &m, const call_name &call, const axis_data *a, const info &l,
                       const info &r) const {
    const info &x = l.s.has(a) ? r : l, &other = l.s.has(a) ? l : r;
    m.say(call, ": no axis ", a->name, " in ", x.label);
    // made of what has the positions under another name
    for (const axis_data *b : x.s)
      if (!x.m.given && !b->batch && other.s.has(a) && same_name(root(a), root(b)))
        m.say("did you mean rename<", b->name, ", ", a->name, ">(", x.label, ")?");
    if (const axes &weighed = other.m.weights;
        over.n == 1 && !weighed.empty() && !weighed.has(a) && x.s.contains(weighed))
      m.say("the weights are over ", weighed, ": did you mean dot<", weighed, ">?");
    return m.show(l, r);
  }
  static constexpr const axis_data *root(const axis_data *a) {
    while (a->same_as) a = a->same_as;
    return a;
  }

  constexpr bool contracts_truth(message &m, const call_name &call, const info &keep) const {
    if (keep.m.type != b8) return false;
    m.say(call, ": ", keep.label, " is b8, not a number")
        .say("did you leave out a softmax of scores that it masks? if a sum is meant, cast<f32>(",
             keep.label, ")");
    return true;
  }

  // A sum of products at each position of an axis that both carry.
  constexpr void side_by_side(message &m, const axis_data *both, const info &l,
                              const info &r) const {
    const axes lacking = r.s.without(l.s);
    m.say("for a product at each ", both->name, ", write sum<", over, ">(");
    if (lacking.empty() || r.s.contains(l.s))
      m << as_factor(l.label).view();
    else
      m << "broadcast<" << lacking << ">(" << l.label << ")";
    m << " * " << as_factor(r.label).view() << ")";
  }

  // A batch axis is contracted with a param that carries it, or with weights over it.
  constexpr bool may_add_up(const axis_data *batch, const info &x) const {
    return x.m.param || x.m.weights.has(batch);
  }

  constexpr text adds_up(message &m, const axis_data *batch, const info &l, const info &r) const {
    m.say("dot<", over, "> adds up batch axis ", batch->name, " of two activations");
    const axes others = over.non_batch();
    if (others.empty()) {
      m.say("only a param may contract it; sum<", batch->name, "> is a sum over it");
    } else {
      m.say("did you mean dot<", others, ">(", l.label, ", ", r.label,
            ")? only a param may contract ", batch->name);
    }
    return m.show(l, r);
  }

  // One side was split as heads, d_k, the other as d_k, heads.
  constexpr bool split_otherwise(message &m, const info &l, const info &r) const {
    const marks &a = l.m, &b = r.m;
    if (!a.split.first || !b.split.first || same_name(a.split.first.at, b.split.first.at))
      return false;
    if (!same_name(a.split.first.at, b.split.second.at) ||
        !same_name(a.split.second.at, b.split.first.at))
      return false;
    m.say("dot<", over, ">: ", l.label, " was split as ", a.split.first->name, ", ",
          a.split.second->name, ", but ", r.label, " as ", b.split.first->name, ", ",
          b.split.second->name)
        .say("split both alike; if it is meant, plain(", r.label, ")");
    return true;
  }

  // dot<d_k>(Q / sqrt(d_k), K / sqrt(d_k)) divides by d_k.
  constexpr bool scaled_on_both_sides(message &m, const info &l, const info &r) const {
    const maybe_axis by = l.m.scale.by;
    if (!by || !r.m.scale.by || !same_name(by.at, r.m.scale.by.at) || !over.has(by.at))
      return false;
    m.say("dot<", over, ">: ", l.label, " and ", r.label, " are both divided by sqrt(", by->name,
          "), so their product is divided by ", by->name)
        .say("divide one of them; if it is meant, sqrt(size(", by->name, "))");
    return true;
  }

  // Weights are contracted over their own axis; over another only with a param or with weights over
  // a contracted axis.
  constexpr bool over_other_weights(message &m, const info &w, const info &other) const {
    if (w.m.weights.empty() || !w.m.weights.common(over).empty()) return false;
    if (other.m.param || !other.m.weights.common(over).empty()) return false;
    m.say("dot<", over, "> contracts weights over ", w.m.weights, "; did you mean ",
          w.label.starts_with("normalize(") ? "normalize<" : "softmax<", over, ">?")
        .say("if it is meant, plain(", w.label, ") makes them numbers");
    return true;
  }

  // Weights over several axes add up to 1 over all of them only.
  constexpr bool part_of_weights(message &m, const info &w) const {
    if (w.m.weights.common(over).empty() || over.contains(w.m.weights)) return false;
    m.say("dot<", over, "> contracts weights over ", w.m.weights, " in part")
        .say("did you mean softmax<", over, ">, or dot<", w.m.weights,
             ">? if it is meant, plain(..) of the weights");
    return true;
  }

  // Masked values whose weights are not masked: weights that meet nothing.
  constexpr bool loses_weights(message &m, const info &w, const info &x) const {
    const axes lost = w.m.weights.common(x.m.hidden.masked).common(over).without(w.m.hidden.masked);
    if (lost.empty()) return false;
    m.say("dot<", over, ">: ", x.label, " is masked along ", lost, ", its weights are not")
        .say("mask the scores; if it is meant, where(keep, x, 0) in place of that mask");
    return true;
  }

  // Scores as the second operand, whose weights are the first: the operands were exchanged.
  constexpr bool weighs_scores(message &m, const info &w, const info &x) const {
    if (w.m.weights.common(over).empty() || !x.m.scale.by || x.s.has(x.m.scale.by.at)) return false;
    if (!is_infix(x.label) || x.label.find(" / sqrt(") == sv::npos) return false;
    m.say("dot<", over, ">: ", x.label, " is divided by sqrt(", x.m.scale.by->name,
          "), as scores are, but is the second operand, the values")
        .say("scores come first, then values; if it is meant, divide by sqrt(size(",
             x.m.scale.by->name, "))");
    return true;
  }

  constexpr axes shape(const info &l, const info &r) const {
    return l.s.without(over).with(r.s.without(over));
  }

  constexpr marks meaning(const info &l, const info &r) const {
    marks m;
    m.contracted = over;
    m.weights = l.m.weights.with(r.m.weights).without(over);
    m.param = l.param() && r.param();
    for (const info *x : {&l, &r}) {
      const axes hidden = x->m.hidden.masked.common(over);
      if (hidden.empty())
        m.hidden.zeroed.add(x->m.hidden.masked);
      else
        m.hidden.left_out = true;
      m.hidden.zeroed.add(x->m.hidden.zeroed.without(over));
      if (x->m.scale.by && over.has(x->m.scale.by.at)) m.scale.by = x->m.scale.by;
      if (x->m.projected.by_head)
        m.contracted.add(x->m.contracted);  // absorbed from the other side
      if (x->m.split.first && !over.has(x->m.split.first.at) && !over.has(x->m.split.second.at))
        m.split = x->m.split;
    }
    m.done = done_by_dot(over, l, r);
    m.projected.made = l.m.param != r.m.param;
    m.projected.by_head =
        m.projected.made && !l.s.batch().common(r.s.batch()).without(over).empty();
    m.type = as_float(common_type(l.m.type, r.m.type));
    return m;
  }
};

}  // namespace detail::rule

// Computes: the sum over the named axes of left * right.
// Shapes:   both carry every named axis; the result has all other axes of both. An axis of both
//           that is not contracted must be a batch axis; a batch axis is contracted only with a
//           param or with weights over it.
// Numerics: 16-bit products accumulate in f32, f64 in f64; a product with a masked factor
//           contributes nothing.
// Errors:   a named axis missing or of two sizes; f64 with f32; b8; a shared axis that is not a
// batch
//           axis; heads added up between activations; weights contracted over another axis than
//           their own, or over some of their axes; masked values whose weights are not masked;
//           values that are scaled scores; a rotated query and a projected key that is not, or in
//           other pairs; rotated values; queries and keys of unit length over other axes; x split
//           as heads, d_k and y as d_k, heads; both sides divided by the root of what is
//           contracted.
template <an_axis auto... Ax, traced L, traced R>
  requires detail::fits<detail::rule::dot{core::axes_of<Ax...>()}, L, R>
constexpr auto dot(L left, R right) {
  return detail::make_step<detail::rule::dot{core::axes_of<Ax...>()}>(left, right);
}
template <detail::given... Ax, class... T,
          class Err = detail::wrong_call<detail::rule::dot, detail::brackets<Ax...>, T...>>
Err dot(T...);

}  // namespace qkv
