#pragma once
// What a kernel computes, as flat data: nodes whose operands come before them.
#include <vector>

#include <qkv/core/axes.hpp>
#include <qkv/core/op.hpp>

namespace qkv {

struct node {
  op kind{};
  dtype type = f32;            // of the result
  int a = -1, b = -1, c = -1;  // operands; where: condition, then both values
  double number = 0;           // of op::number
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
  // How many nodes are of this kind.
  constexpr int count(op kind) const {
    int c = 0;
    for (const node &n : nodes) c += n.kind == kind;
    return c;
  }
};

}  // namespace qkv
