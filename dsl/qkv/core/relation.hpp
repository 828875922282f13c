// SPDX-License-Identifier: BSL-1.0
#pragma once
// Checks of masks and biases that relate queries to keys: they need an alignment, and those that
// meet must agree on it.
#include <qkv/core/rule.hpp>

namespace qkv::detail {

constexpr sv name_of(relation r) {
  constexpr sv names[] = {"causal",        "cached_causal", "prefix", "sliding_window",
                          "global_window", "dilated",       "alibi",  "relative_bias",
                          "t5_bias",       "t5_causal_bias"};
  return names[static_cast<int>(r)];
}

// sliding_window<seq, kv>
constexpr text related_pair(relation by, const maybe_axis &query, const maybe_axis &key) {
  text t;
  return t << name_of(by) << "<" << query->name << ", " << key->name << ">";
}

// A term, a factor or a mask of x has one axis that x lacks, in the place of one that it lacks
// itself: the positions, the mask or the bias of that axis are the likely ones.
constexpr bool say_other_positions(message &m, const info &term, const info &x) {
  const axes from = term.s.without(x.s), to = x.s.without(term.s).non_batch();
  if (from.n != 1 || to.n != 1 || from[0]->batch) return false;
  const auto other = [&](const maybe_axis &a) {
    return same_name(a.at, from[0]) ? maybe_axis(to[0]) : a;
  };
  const placing &p = term.m.sides.placed;
  if (p.query && term.label.starts_with(related_pair(p.by, p.query, p.key).view()))
    m.say("did you mean ", related_pair(p.by, other(p.query), other(p.key)), "?");
  else if (term.label.find((text() << "index(" << from << ")").view()) != sv::npos)
    m.say("did you mean index(", to, ")?");
  else
    return false;
  return true;
}
// The same of data, which have another axis in common with x: another name for theirs.
constexpr bool say_other_axis(message &m, const info &term, const info &x) {
  if (say_other_positions(m, term, x)) return true;
  const axes from = term.s.without(x.s), to = x.s.without(term.s).non_batch();
  if (from.n != 1 || to.n != 1 || from[0]->batch || term.label.starts_with("rename(")) return false;
  const long size = from[0]->size;
  const bool related = same_name(root_of(from[0]), root_of(to[0]));
  if ((!related && term.s.common(x.s).empty()) || (size >= 0 && to[0]->size >= 0)) return false;
  if (size < 0)
    m.say("did you mean rename<", from, ", ", to, ">(", term.label, ")?");
  else if (term.m.param)
    m.say("did you mean take<", from, ">(", term.label, ", index(", to, "))?");
  return true;
}

// The padding, document, causal or cached causal mask at the start of the label of a condition:
// padding(n), causal<seq, kv>. Empty if there is none.
constexpr sv visibility_in(sv condition) {
  for (const sv name : {sv("padding("), sv("causal<"), sv("cached_causal<"), sv("document(")}) {
    if (!condition.starts_with(name)) continue;
    int depth = 0;
    for (std::size_t i = name.size() - 1; i < condition.size(); ++i) {
      const char c = condition[i];
      depth += (c == '(' || c == '<') - (c == ')' || c == '>');
      if (depth == 0) return condition.substr(0, i + 1);
    }
  }
  return {};
}
// The same mask behind a ! at the start, or a padding mask behind a later one.
constexpr sv inverted_visibility_in(sv condition) {
  if (condition.starts_with("!")) return visibility_in(condition.substr(1));
  const std::size_t later = condition.find(" !padding(");
  return later == sv::npos ? sv() : visibility_in(condition.substr(later + 2));
}
// causal<kv, seq>, where kv is an alias of seq: its inverse is strictly causal.
constexpr bool names_keys_first(const placing &p) {
  return p.query && p.query->is_alias && !p.key->is_alias;
}

constexpr bool unaligned_causal(message &m, const info &x) {
  if (!x.m.sides.unaligned) return false;
  if (!x.m.sides.query) {  // inverted, or seen through a view: which axes they were is forgotten
    m.say(x.label, ": made of a causal mask between axes of unrelated size")
        .say("say causal<query, key, align::first> or align::last");
    return true;
  }
  const sv name = name_of(x.m.sides.by), q = x.m.sides.query->name, k = x.m.sides.key->name;
  m.say(name, "<", q, ", ", k, ">: the sizes of ", q, " and ", k, " are unrelated")
      .say("say ", name, "<", q, ", ", k,
           ", align::first> or align::last; over a cache, cached_causal");
  return true;
}

// sliding_window<seq, slots>(width, length): the same over a cache.
constexpr text over_cache(relation by, const maybe_axis &query, const maybe_axis &key,
                          origin from) {
  constexpr sv first[] = {"",       "",        "prefix, ", "width, ",      "width, globals, ",
                          "step, ", "slope, ", "table, ",  "table, 128, ", "table, 128, "};
  text t;
  t << name_of(by) << "<" << query->name << ", " << key->name;
  return t << (by >= relation::relative_bias ? ", ..>(" : ">(") << first[static_cast<int>(by)]
           << (from == origin::count ? "length, count)" : "length)");
}

constexpr bool of_cache(const placing &p) {
  return p.from == origin::length || p.from == origin::count;
}

constexpr bool same_pair(const maybe_axis &query, const maybe_axis &key, const maybe_axis &query2,
                         const maybe_axis &key2) {
  return query && query2 && same_name(query.at, query2.at) && same_name(key.at, key2.at);
}

// p counts positions from elsewhere than q, which depends on more of the cache.
constexpr void say_other_origin(message &m, const call_name &call, const placing &p,
                                const placing &q) {
  const text of_p = related_pair(p.by, p.query, p.key), of_q = related_pair(q.by, q.query, q.key);
  if (!of_cache(q)) {
    m.say(call, ": ", of_p, " and ", of_q, " align different positions")
        .say("use one alignment in both");
    return;
  }
  m.say(call, ": ", of_p, " lacks the ", of_cache(p) ? "count" : "length", " that ", of_q,
        " takes");
  const text causal = over_cache(relation::cached_causal, p.query, p.key, q.from);
  if (p.by == relation::causal && q.by == relation::cached_causal)
    m.say("leave ", of_p, " out");
  else if (p.by == relation::causal)
    m.say("did you mean ", causal, "?");
  else if (p.by == relation::prefix)
    m.say("did you mean ", causal, " or padding<", p.key->name, ">(prefix)?");
  else
    m.say("did you mean ", over_cache(p.by, p.query, p.key, q.from), "?");
}

// Both take a length, but not the same one.
constexpr bool lengths_differ(message &m, const call_name &call, const placing &p,
                              const placing &q) {
  if (!p.length || !q.length || p.length->label == q.length->label) return false;
  for (sv label : {p.length->label, q.length->label})
    if (label == "number" || is_shortened(label)) return false;
  m.say(call, ": ", related_pair(p.by, p.query, p.key), " takes the length ", p.length->label,
        ", but ", related_pair(q.by, q.query, q.key), " takes ", q.length->label)
      .say("give both one length; if they are equal, let<\"length\">(..) of each");
  return true;
}

// Two relations between the same axes that count the positions of queries from different places.
// Two causal masks may: the stricter one holds.
constexpr bool origins_differ(message &m, const call_name &call, const info &l, const info &r) {
  const placing &p = l.m.sides.placed, &q = r.m.sides.placed;
  if (p.from == origin::unsaid || q.from == origin::unsaid) return false;
  if (!same_pair(p.query, p.key, q.query, q.key) && !same_pair(p.query, p.key, q.key, q.query))
    return false;
  if (p.from == q.from) {
    if (!lengths_differ(m, call, p, q)) return false;
    m.show(l, r);
    return true;
  }
  if (p.by == relation::causal && q.by == relation::causal) return false;
  if (p.from < q.from)
    say_other_origin(m, call, p, q);
  else
    say_other_origin(m, call, q, p);
  m.show(l, r);
  return true;
}

// Also, two relations that take the same axes in different orders. Two causal masks may: together
// they are the diagonal.
constexpr bool relations_differ(message &m, const call_name &call, const info &l, const info &r) {
  const sides &a = l.m.sides, &b = r.m.sides;
  const bool both_causal = a.by == relation::causal && b.by == relation::causal;
  if (both_causal || !same_pair(a.query, a.key, b.key, b.query))
    return origins_differ(m, call, l, r);
  m.say(call, ": ", related_pair(a.by, a.query, a.key), " takes ", a.key->name,
        " as its keys, but ", related_pair(b.by, b.query, b.key), " takes ", b.key->name)
      .say("name the queries first, then the keys")
      .show(l, r);
  return true;
}

// Those of a step made of both. The mask of a cache takes precedence, and one without the alignment
// that it needs, so that later steps refuse them by name.
constexpr sides sides_of(const info &l, const info &r) {
  const sides &a = l.m.sides, &b = r.m.sides;
  const bool right =
      !a.key || (b.key && (b.by == relation::cached_causal || (b.unaligned && !a.unaligned)));
  sides both = right ? b : a;
  both.placed = a.placed.from < b.placed.from ? b.placed : a.placed;
  both.unaligned = a.unaligned || b.unaligned;
  return both;
}

}  // namespace qkv::detail
