// SPDX-License-Identifier: BSL-1.0
// Words of the language that mean several steps, or none.
#include "tests/fuzz/language.hpp"

namespace qkv::fuzz {

namespace rule = detail::rule;
using detail::form;

std::optional<value> language::word_of(const step &s, const operands &in) {
  const axes over = set_of(s.over);
  switch (s.what) {
    case word::root: {  // sqrt(axis)
      value v = from_axis(op::size, over[0]);
      v.x.m = detail::scale_of(over[0]);
      if (over[0]->size >= 0) {
        v.nodes = {detail::number_node(detail::root_of_size(over[0]->size), f32)};
      } else {
        node converted{.kind = op::cast, .a = 0}, root{.kind = op::sqrt, .a = 1};
        v.nodes.push_back(converted);
        v.nodes.push_back(root);
      }
      return v;
    }
    case word::filled: {
      value v;
      v.x = {s.number == 0 ? "zeros" : "filled", over, {.type = s.type}, form::index};
      v.nodes = {detail::number_node(s.number, s.type),
                 detail::step_node(op::broadcast, s.type, over, over, 0)};
      return v;
    }
    case word::plain: {
      if (!in[0]->x.tensor()) return refuse("plain of what is no step");
      value v = *in[0];
      v.x.m = detail::forgotten(v.x.m);
      return v;
    }
    case word::let: {
      if (in[0]->x.number()) return refuse("let of a number");
      return *in[0];
    }
    case word::slice: {
      if (in[0]->x.number() || !passes(rule::slice{over}.check(in[0]->x))) return {};
      const value index = from_axis(op::index, over[over.n - 1]);
      const value length = from_axis(op::size, over[0]);
      const op first = r_[s.in[1]].kind;
      const bool is_bare = first == op::number || first == op::index || first == op::size;
      const std::optional<value> from = is_bare ? *in[1] : pointwise(op::min, {in[1], &length});
      if (!from) return from;
      const std::optional<value> at = pointwise(op::add, {&index, &*from});
      return at ? apply(rule::take{one_axis(over[0])}, *in[0], *at) : at;
    }
    case word::rows:
      if (in[0]->x.number() || in[1]->x.number()) return refuse("mask_rows of a number");
      return apply(rule::mask<true>{}, *in[0], *in[1]);
    case word::joined:
      return apply(rule::concat{over, true}, *in[0], *in[1]);
    case word::causal:
      return causal(s);
    case word::step:
      break;
  }
  return refuse("no word of the language");
}

// causal<query, key, align>, as dsl/qkv/attention/causal.hpp defines it.
std::optional<value> language::causal(const step &s) {
  const axis_data *query = axis(s.over[0]), *key = axis(s.over[1]);
  const bool related = detail::related(query, key);
  value at = from_axis(op::index, query);
  if (s.number == 2 && !related) {
    const value size_of_key = from_axis(op::size, key), size_of_query = from_axis(op::size, query);
    at = *pointwise(op::add, {&at, &size_of_key});
    at = *pointwise(op::sub, {&at, &size_of_query});
  }
  const value keys = from_axis(op::index, key);
  std::optional<value> v = pointwise(op::less_equal, {&keys, &at});
  if (!v) return v;
  marks m;
  m.type = b8;
  m.sides.query = query;
  m.sides.key = key;
  m.sides.unaligned = s.number == 0 && !related;
  v->x.m = m;
  return v;
}

// scan<axis>(state, step, x...) is written as its parts: the state, an element of each x, the steps
// in between, and the scan itself of (state, next, result); `last` refers to a scan.
std::optional<value> language::part_of_scan(const step &s, const operands &in) {
  const axes over = set_of(s.over);
  const rule::scan rule{over};
  value v;
  v.x.kind = form::tensor;
  if (s.kind == op::carried) {
    const value &start = *in[0];
    if (!passes(rule.check_state(start.x))) return {};
    if (start.state >= 0) return refuse("a scan inside of a scan");
    v.x.s = start.x.s;
    v.x.m = detail::carried_marks(start.x);
    v.id = g_.put(detail::step_node(op::carried, v.x.m.type, v.x.s, over, lift(start, f32)));
    g_[v.id].number = v.id;
    return v;
  }
  if (s.kind == op::element) {
    const value &whole = *in[0];
    if (whole.x.number() || !passes(rule.check_operand(whole.x))) return {};
    if (whole.state >= 0) return refuse("an element of what is inside of a scan");
    v.x.s = whole.x.s.without(over);
    v.x.m = detail::values(whole.x.m, whole.x.m.type);
    v.id = g_.put(
        detail::step_node(op::element, v.x.m.type, v.x.s, over, lift(whole, i32), in[1]->id));
    return v;
  }
  if (s.kind == op::last) {
    const step &of = r_[s.in[0]];
    const value &state = (*this)[of.in[0]], &next = (*this)[of.in[1]];
    v.x.s = next.x.s;
    v.x.m = detail::values(next.x.m, next.x.m.type);
    v.id =
        g_.put(detail::step_node(op::last, v.x.m.type, v.x.s, set_of(of.over), state.id, next.id));
    return v;
  }
  const value &state = *in[0], &next = *in[1], &y = *in[2];
  bool of_kernel = (*this)[r_[s.in[0]].in[0]].x.tensor();
  for (const step &e : r_.steps)
    if (e.what == word::step && e.kind == op::element && e.in[1] == s.in[0])
      of_kernel = of_kernel || (*this)[e.in[0]].x.tensor();
  if (!of_kernel) return refuse("scan: no operand is a step of the kernel");
  if (!next.x.tensor() || !y.x.tensor()) return refuse("scan: the step returns no state");
  if (!passes(rule.check_next(state.x, next.x)) || !passes(rule.check_result(state.x, y.x)))
    return {};
  v.x.s = over.with(y.x.s);
  v.x.m = detail::values(y.x.m, y.x.m.type);
  v.id = g_.put(detail::step_node(op::scan, v.x.m.type, v.x.s, over, state.id, next.id, y.id));
  return v;
}

}  // namespace qkv::fuzz
