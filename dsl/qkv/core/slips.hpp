// SPDX-License-Identifier: BSL-1.0
#pragma once
// Slips of formulas that the names of their operands reveal: exp(x) / sum(x). A step named by let()
// is not examined, which is the way to insist.
#include <qkv/core/label.hpp>
#include <qkv/core/message.hpp>

namespace qkv::detail {

// index(seq) - index(seq), which is 0, and id == id.
constexpr bool takes_itself(message &m, op kind, const info &l, const info &r) {
  const bool positions = l.index() && r.index() && l.label.starts_with("index(");
  const bool exact = l.m.type == i32 && r.m.type == i32 && is_comparison(kind);  // NaN != NaN
  if (!(positions || exact) || l.s.empty() || l.label != r.label) return false;
  if (is_shortened(l.label) || l.label.find("number") != sv::npos) return false;
  m.say(name_of(kind), ": ", l.label, " is on both sides");
  if (positions)
    m.say("did you mean the index of another axis on one side?");
  else
    m.say("did you mean rename<", l.s[l.s.n - 1]->name, ", other axis>(", l.label,
          ") on one side?");
  return true;
}

// index(kv) < size(kv), which is always true.
constexpr bool compares_with_size(message &m, op kind, const info &position, const info &size) {
  constexpr sv begin = "index(";
  if (!size.label.starts_with("size(") || !position.label.starts_with(begin)) return false;
  if (size.label.substr(5) != position.label.substr(begin.size())) return false;
  m.say(name_of(kind), ": positions end at ", size.label, " - 1, so ", position.label,
        " is always below ", size.label)
      .say("did you mean a length of the call? if it is meant, ", size.label, " + 0");
  return true;
}

// A bias is added to scores.
constexpr bool multiplies_bias(message &m, const info &scores, const info &bias) {
  if (scores.m.contracted.empty()) return false;
  for (const sv name : {sv("alibi<"), sv("relative_bias<"), sv("t5_bias<"), sv("t5_causal_bias<")})
    if (is_call(bias.label, name)) {
      m.say("*: ", bias.label, " is a bias, which is added to scores")
          .say("did you mean ", scores.label, " + ", bias.label,
               "? if it is meant, let<\"factor\">(", bias.label, ")");
      return true;
    }
  return false;
}

// Distances cost: the bias is 0 or less.
constexpr bool subtracts_penalty(message &m, const info &scores, const info &bias) {
  if (!scores.tensor() || !is_call(bias.label, "alibi<")) return false;
  m.say("-: ", bias.label, " is 0 or less, so it is added to scores")
      .say("did you mean ", scores.label, " + ", bias.label, "? if it is meant, let<\"distance\">(",
           bias.label, ")");
  return true;
}

// exp(x) / sum<kv>(x), or dot<kv>(exp(x), V) / sum<kv>(x).
constexpr bool lacks_exp(message &m, const info &l, const info &r) {
  if (!is_call(r.label, "sum(") || is_shortened(r.label)) return false;
  const sv x = r.label.substr(4, r.label.size() - 5);
  const auto weights = label_text() << "exp(" << x << ")", attended = label_text()
                                                                      << "dot(" << weights;
  if (l.label != weights.view() && !is_call(l.label, attended.view())) return false;
  m.say("/: ", r.label, " adds up ", x, ", not its exp")
      .say("did you mean sum<", r.m.statistic, ">(exp(", x, "))? if it is meant, let<\"total\">(",
           r.label, ")")
      .show(l, r);
  return true;
}

// x / rsqrt(size(d_k)).
constexpr bool divides_by_inverse(message &m, const info &x, const info &scale) {
  constexpr sv inverse = "rsqrt(size(";
  if (!scale.label.starts_with(inverse)) return false;
  for (const axis_data *a : x.m.contracted)
    if (scale.label.substr(inverse.size()) == (text() << a->name << "))").view()) {
      m.say(x.label, " / ", scale.label, " multiplies by the root of what was contracted")
          .say("did you mean / sqrt(", a->name, ")? if it is meant, * sqrt(size(", a->name, "))")
          .show(x);
      return true;
    }
  return false;
}

// mean(x) * mean(x) - mean(x * x).
constexpr bool negates_variance(message &m, const info &l, const info &r) {
  constexpr sv mean = "mean(";
  const std::size_t half = l.label.find(" * mean(");
  if (half == sv::npos || !l.label.starts_with(mean) || is_shortened(l.label)) return false;
  const sv of_x = l.label.substr(0, half), x = of_x.substr(mean.size(), half - mean.size() - 1);
  if (l.label.substr(half + 3) != of_x) return false;
  text squares;
  squares << mean << x << " * " << x << ")";
  if (r.label != squares.view()) return false;
  m.say("-: ", l.label, " is never more than ", r.label, ", so this is a negative variance")
      .say("did you mean ", r.label, " - ", l.label, "? if it is meant, let<\"square\">(", l.label,
           ")")
      .show(l, r);
  return true;
}

// softmax(x) / temperature.
constexpr bool cools_weights(message &m, const info &w, const info &by) {
  if (!is_call(w.label, "softmax(") || w.m.weights.empty()) return false;
  if (!by.tensor() || !by.s.empty() || !(by.m.given || by.m.param)) return false;
  m.say("/: ", w.label, " holds weights over ", w.m.weights, ", which no longer add up to 1")
      .say("divide the scores by ", by.label, "; if it is meant, plain(..) of the weights")
      .show(w, by);
  return true;
}

// x / rsqrt(v).
constexpr bool divides_by_rsqrt(message &m, const info &x, const info &scale) {
  if (!scale.tensor() || !is_call(scale.label, "rsqrt(")) return false;
  m.say("/: ", scale.label, " is 1 / sqrt(..), so this multiplies by the root")
      .say("did you mean ", as_factor(x.label).view(), " * ", scale.label,
           "? if it is meant, * sqrt(..)")
      .show(x, scale);
  return true;
}

// log(sum<kv>(scores)).
constexpr bool lacks_exp_in_log(message &m, const info &x) {
  if (!is_call(x.label, "sum(") || x.m.statistic.empty()) return false;
  const sv of_x = x.label.substr(4, x.label.size() - 5);
  const bool scores = of_x.starts_with("dot(") || of_x == "scores" || of_x == "logits";
  if (!scores || x.m.statistic.contains(x.m.contracted)) return false;
  m.say("log: ", x.label, " adds up ", of_x, ", not its exp")
      .say("did you mean logsumexp<", x.m.statistic, ">(", of_x,
           ")? if it is meant, let<\"total\">(", x.label, ")")
      .show(x);
  return true;
}

// exp(x) / mean<kv>(exp(x)).
constexpr bool divides_by_mean(message &m, const info &l, const info &r) {
  if (!l.label.starts_with("exp(")) return false;
  if (r.label != call_label("mean", l.label).view()) return false;
  m.say("/: weights divided by their mean add up to the number of positions, not to 1")
      .say("did you mean sum<", r.m.statistic, ">(", l.label,
           ")? if it is meant, let<\"average\">(", r.label, ")")
      .show(l, r);
  return true;
}

// x / index(seq): the first position is 0.
constexpr bool divides_by_position(message &m, const info &x, const info &position) {
  if (!position.index() || !is_call(position.label, "index(") || position.s.n != 1) return false;
  m.say("/: ", position.label, " is 0 at the first position")
      .say("did you mean ", x.label, " / (", position.label, " + 1)? if it is meant, divide by (",
           position.label, " + 0)")
      .show(x);
  return true;
}

// Of a product that has no other operators.
constexpr bool is_factor(sv product, sv x) {
  for (std::size_t end; (end = product.find(" * ")) != sv::npos; product.remove_prefix(end + 3))
    if (product.substr(0, end) == x) return true;
  return product == x;
}

// sum<seq>(mask(x, keep)) / size(seq), or / (size(batch) * size(seq)).
constexpr bool counts_hidden(message &m, const info &sum, const info &size) {
  if (!sum.m.hidden.left_out || !sum.label.starts_with("sum(") || !size.index()) return false;
  for (const axis_data *a : sum.m.statistic)
    if (is_factor(size.label, (text() << "size(" << a->name << ")").view())) {
      m.say("/: ", size.label, " counts what the mask of ", sum.label, " hides")
          .say("did you mean mean<", sum.m.statistic, ">(..)? if it is meant, divide by (",
               size.label, " + 0)")
          .show(sum);
      return true;
    }
  return false;
}

// qk_norm(Q, K, scale) / sqrt(d_k).
constexpr bool scales_cosine(message &m, const info &x, const info &scale) {
  if (!is_call(x.label, "qk_norm(") || !scale.m.scale.root) return false;
  m.say("/: ", x.label, " are cosines times a scale of their own, whatever the size of ",
        scale.m.scale.root->name)
      .say("leave sqrt(", scale.m.scale.root->name, ") out; if it is meant, sqrt(size(",
           scale.m.scale.root->name, "))")
      .show(x);
  return true;
}

// softcap(dot<d_k>(Q, K), 50) / sqrt(d_k).
constexpr bool scales_capped(message &m, const info &x, const info &scale) {
  if (!is_call(x.label, "softcap(") || !scale.m.scale.root) return false;
  const sv root = scale.m.scale.root->name;
  m.say("/: ", x.label, " limits scores that are not divided by sqrt(", root, ") yet")
      .say("divide them first, softcap(.. / sqrt(", root, "), ..); if it is meant, sqrt(size(",
           root, "))")
      .show(x);
  return true;
}

// softmax(mask(s1, keep)) - lambda * softmax(s2): the second weights see what the first hide.
constexpr bool subtracts_unmasked(message &m, const info &l, const info &r) {
  if (l.m.weights.empty() || !l.m.weights.same_set(r.m.weights)) return false;
  const axes seen = l.m.weights;
  const bool of_l = !l.m.hidden.masked.common(seen).empty(),
             of_r = !r.m.hidden.masked.common(seen).empty();
  if (of_l == of_r) return false;
  const info &masked = of_l ? l : r, &other = of_l ? r : l;
  m.say("-: ", masked.label, " leaves out what a mask hides, but ", other.label, " does not")
      .say("mask the scores of both; if it is meant, plain(..) of the weights")
      .show(l, r);
  return true;
}

// dot<kv>(mask(q k), V) / dot<d>(q, sum<kv>(k)).
constexpr bool divides_by_all(message &m, const info &l, const info &r) {
  if (!l.m.hidden.left_out || r.m.hidden.left_out || !l.label.starts_with("dot(mask("))
    return false;
  if (!r.label.starts_with("dot(") || r.label.find("sum(") == sv::npos) return false;
  m.say("/: ", l.label, " leaves out what a mask hides, but ", r.label, " adds up every key")
      .say("did you mean sum<", l.m.contracted,
           ">(mask(..)) as the divisor? if it is meant, let<\"total\">(", r.label, ")")
      .show(l, r);
  return true;
}

// padding<kv>(n) || window: keys behind the padding are seen wherever the window reaches.
constexpr bool shows_padding(message &m, const info &padding, const info &other) {
  if (!is_call(padding.label, "padding(") || !other.m.sides.placed.query) return false;
  m.say("or: ", padding.label, " or ", other.label, " shows what lies behind the padding")
      .say("did you mean ", padding.label, " and ", other.label,
           "? if it is meant, let<\"filled\">(", padding.label, ")");
  return true;
}

}  // namespace qkv::detail
