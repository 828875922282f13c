// SPDX-License-Identifier: BSL-1.0
#pragma once
// Builds the step that a rule makes of its operands, in their kernel's graph or as an expression of
// positions.
#include <initializer_list>

#include <qkv/core/called.hpp>
#include <qkv/core/label.hpp>
#include <qkv/core/rule.hpp>

namespace qkv::detail {

// Numbers take part as the type of what they meet when that is a floating type, or when one of them
// has a fraction.
constexpr dtype number_type(std::initializer_list<dtype> operands) {
  dtype t = i32;
  for (dtype o : operands) t = o == b8 ? t : common_type(t, o);
  return t;
}

// A rule may set the type of numbers: positions are whole.
template <auto Rule>
constexpr dtype number_of(dtype met) {
  if constexpr (requires { Rule.number; }) {
    return Rule.number;
  } else {
    return met;
  }
}

constexpr node number_node(double value, dtype type) {
  node n;
  n.kind = op::number;
  n.type = type;
  n.number = value;
  return n;
}

constexpr node moved(node n, int base) {
  for (int *o : {&n.a, &n.b, &n.c})
    if (*o >= 0) *o += base;
  return n;
}

// A fixed list of nodes with the face of a graph.
template <int N>
struct node_list {
  node nodes[N]{};
  int n = 0;
  constexpr int size() const { return n; }
  constexpr int put(const node &x) {
    nodes[n] = x;
    return n++;
  }
};

// The types of numbers. The whole number 0 may keep its own, because 1 / 8 is 0 in C++.
struct number_types {
  dtype all, zero;
  constexpr number_types(dtype t) : all(t), zero(t) {}
  constexpr number_types(op kind, dtype t)
      : all(t), zero(kind == op::mul || kind == op::pow ? i32 : t) {}
};

// Any operand as a node of the graph; returns its position.
constexpr int lift(number_types, graph &, const step &x) { return x.id; }
template <class Graph, class T>
  requires(of<T>.number())
constexpr int lift(number_types number, Graph &g, const T &x) {
  const bool whole_zero = std::is_integral_v<T> && x == 0;
  return g.put(number_node(static_cast<double>(x), whole_zero ? number.zero : number.all));
}
template <class Graph, class W, const info &F, int N>
constexpr int lift(number_types number, Graph &g, const index_expr<W, F, N> &x) {
  const int base = g.size();
  for (const node &n : x.nodes) {
    node m = moved(n, base);
    if (number.all == f64 && m.type == f32) m.type = f64;  // as precise as what they meet
    g.put(m);
  }
  return g.size() - 1;
}

template <class T>
inline constexpr int node_count = 1;
template <class W, const info &F, int N>
inline constexpr int node_count<index_expr<W, F, N>> = N;

// Matches operands without a graph.
struct any_operand {
  template <class T>
  constexpr any_operand(const T &) {}
};
constexpr graph *graph_in(const step &x) { return x.g; }
constexpr graph *graph_in(any_operand) { return nullptr; }
// The graph of the first operand that has one.
constexpr graph *graph_among(std::initializer_list<graph *> graphs) {
  for (graph *g : graphs)
    if (g) return g;
  return nullptr;
}

constexpr node step_node(op kind, dtype type, const axes &shape, const axes &over, int a,
                         int b = -1, int c = -1) {
  node n;
  n.kind = kind;
  n.type = type;
  n.a = a;
  n.b = b;
  n.c = c;
  n.shape = shape;
  n.over = over;
  return n;
}

// A kernel has many steps: what is inlined here is not emitted as a function with a long name for
// each of them.
template <auto Rule, class... X>
[[gnu::always_inline]] constexpr auto make_step(const X &...x) {
  if constexpr ((of<X>.refused || ...)) {
    return first_refused(x...);
  } else if constexpr (!applied<Rule, X...>::passes) {
    return refused_by<applied<Rule, X...>>{};
  } else {
    constexpr axes shape = Rule.shape(of<X>...);
    constexpr marks meaning = Rule.meaning(of<X>...);
    constexpr auto name = step_label<Rule.kind, X...>;
    constexpr number_types number(Rule.kind, number_of<Rule>(number_type({of<X>.m.type...})));
    constexpr bool checked = in_formula<X...>;
    if constexpr ((of<X>.tensor() || ...)) {
      graph *g = graph_among({graph_in(x)...});
      const int a[] = {lift(number, *g, x)..., -1, -1};
      return expr_with<facts<name, shape, meaning, checked>::v>(
          {g, g->put(step_node(Rule.kind, meaning.type, shape, Rule.over, a[0], a[1], a[2]))});
    } else {
      constexpr int count = (node_count<X> + ...) + 1;
      node_list<count> list;
      const int a[] = {lift(number, list, x)..., -1, -1};
      list.put(step_node(Rule.kind, meaning.type, shape, Rule.over, a[0], a[1], a[2]));
      return index_expr_with<index_facts<name, shape, meaning, checked>::v>(list.nodes);
    }
  }
}

// x, unless one of the others was refused.
template <class X, class... More>
constexpr auto after(const X &x, const More &...more) {
  if constexpr ((of<More>.refused || ...))
    return first_refused(more...);
  else
    return x;
}

// x, if the rule accepts it with the others: requirements of a formula beyond the rules of its
// steps.
template <auto Rule, class X, class... More>
constexpr auto expect(const X &x, const More &...more) {
  if constexpr ((of<X>.refused || ... || of<More>.refused))
    return first_refused(x, more...);
  else if constexpr (passes<applied<Rule, X, More...>>)
    return x;
  else
    return refused_by<applied<Rule, X, More...>>{};
}

}  // namespace qkv::detail
