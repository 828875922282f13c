#pragma once
// Builds the step that a rule makes of its operands, in their kernel's graph or as an expression of positions.
#include <qkv/core/rule.hpp>

namespace qkv::detail {

// Numbers take part as the type of what they meet when that is a floating type.
template <class... X>
constexpr dtype number_type(dtype own) {
  dtype t = own;
  ((t = of<X>.number() || of<X>.m.type == b8 ? t : common_type(t, of<X>.m.type)), ...);
  return t;
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

// Any operand as a node of the graph; returns its position.
template <class... All, class Graph, class T>
constexpr int put_operand_node(Graph &g, const T &x) {
  if constexpr (of<T>.tensor()) {
    return x.id;
  } else if constexpr (of<T>.index()) {
    const int base = g.size();
    for (const node &n : x.nodes) g.put(moved(n, base));
    return g.size() - 1;
  } else {
    return g.put(number_node(static_cast<double>(x), number_type<All...>(of<T>.m.type)));
  }
}

template <class T>
inline constexpr int node_count = 1;
template <str L, axes S, marks M, int N>
inline constexpr int node_count<index_expr<L, S, M, N>> = N;

template <class T, class... More>
constexpr graph *graph_of(const T &x, const More &...more) {
  if constexpr (of<T>.tensor()) {
    return x.g;
  } else {
    return graph_of(more...);
  }
}

template <auto Rule, class... X>
constexpr node node_of(const axes &shape, dtype type, const int (&operands)[sizeof...(X)]) {
  node n;
  n.kind = Rule.kind;
  n.type = type;
  n.a = operands[0];
  if constexpr (sizeof...(X) > 1) n.b = operands[1];
  if constexpr (sizeof...(X) > 2) n.c = operands[2];
  n.shape = shape;
  n.over = Rule.over;
  return n;
}

template <auto Rule, class... X>
constexpr auto make_step(const X &...x) {
  constexpr axes shape = Rule.shape(of<X>...);
  constexpr marks meaning = Rule.meaning(of<X>...);
  constexpr auto name = label<Rule, X...>::value;
  if constexpr ((of<X>.tensor() || ...)) {
    graph *g = graph_of(x...);
    const int operands[] = {put_operand_node<X...>(*g, x)...};
    return expr<name, shape, meaning>{g,
                                      g->put(node_of<Rule, X...>(shape, meaning.type, operands))};
  } else {
    constexpr int count = (node_count<X> + ...) + 1;
    node_list<count> list;
    const int operands[] = {put_operand_node<X...>(list, x)...};
    list.put(node_of<Rule, X...>(shape, meaning.type, operands));
    index_expr<name, shape, meaning, count> e{};
    for (int i = 0; i < count; ++i) e.nodes[i] = list.nodes[i];
    return e;
  }
}

}  // namespace qkv::detail
