// SPDX-License-Identifier: BSL-1.0
#pragma once
// The computation of a kernel as flat data: nodes whose operands come before them.
#include <vector>

#include <qkv/core/axes.hpp>
#include <qkv/core/op.hpp>

namespace qkv::core {

struct node {
  op kind{};
  dtype type = f32;            // of the result
  int a = -1, b = -1, c = -1;  // operands; where: condition, then both values
  double number = 0;           // of op::number; of op::carried: which state it is
  sv label{};                  // of an input, param, output or let; else empty
  axes shape{};                // of the result
  axes over{};                 // contracted, reduced or normalised axes; see op for views
};

struct graph {
  std::vector<node> nodes;

  constexpr int size() const { return static_cast<int>(nodes.size()); }
  constexpr const node &operator[](int i) const { return nodes[static_cast<std::size_t>(i)]; }
  constexpr node &operator[](int i) { return nodes[static_cast<std::size_t>(i)]; }
  constexpr auto begin() const { return nodes.begin(); }
  constexpr auto end() const { return nodes.end(); }

  // Appends a node and returns its position.
  constexpr int put(const node &n) {
    nodes.push_back(n);
    return size() - 1;
  }
  // The number of nodes of this kind.
  constexpr int count(op kind) const {
    int c = 0;
    for (const node &n : nodes) c += n.kind == kind;
    return c;
  }
};

}  // namespace qkv::core

namespace qkv::detail {

// The same computation with one order on every compiler: arguments, then each step after its
// operands, outputs last. (In f(g(x), h(x)) a compiler is free to build the nodes of h before those
// of g.) What no output needs is left out.
constexpr graph in_order(const graph &g) {
  graph r;
  r.nodes.reserve(g.nodes.size());
  std::vector<int> place(g.nodes.size(), -1);  // in r
  for (int i = 0; i < g.size(); ++i)
    if (g[i].kind == op::input || g[i].kind == op::param)
      place[static_cast<std::size_t>(i)] = r.put(g[i]);
  const auto placed = [&](int i) { return i < 0 ? i : place[static_cast<std::size_t>(i)]; };
  const auto put = [&](const node &n) {
    node m = n;
    for (int *operand : {&m.a, &m.b, &m.c}) *operand = placed(*operand);
    if (m.kind == op::carried) m.number = r.size();
    return r.put(m);
  };
  std::vector<int> open;  // steps whose operands are not all placed yet
  for (const node &output : g) {
    if (output.kind != op::output) continue;
    open.push_back(output.a);
    while (!open.empty()) {
      const int i = open.back();
      const node &n = g[i];
      int next = -1;
      for (int operand : {n.a, n.b, n.c})
        if (operand >= 0 && placed(operand) < 0) {
          next = operand;
          break;
        }
      if (next >= 0) {
        open.push_back(next);
        continue;
      }
      if (placed(i) < 0) place[static_cast<std::size_t>(i)] = put(n);
      open.pop_back();
    }
  }
  for (const node &output : g)
    if (output.kind == op::output) put(output);
  return r;
}

}  // namespace qkv::detail
