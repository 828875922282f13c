// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/assemble.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"
#include "codegen/program/sizes.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen {

program without_steps(program p) {
  p.nodes.clear();
  p.arguments.clear();
  p.outputs.clear();
  return p;
}

program without_dead_steps(program p) {
  std::vector<bool> used(p.nodes.size(), false);
  for (node_id n : p.outputs) used[n] = true;
  for (std::size_t k = p.nodes.size(); k-- > 0;)
    if (used[k])
      for (node_id operand : p.nodes[k].in) used[operand] = true;
  for (node_id n : p.arguments) used[n] = true;

  std::vector<node_id> at(p.nodes.size(), -1);
  std::vector<node> kept;
  for (std::size_t k = 0; k < p.nodes.size(); ++k) {
    if (!used[k]) continue;
    at[k] = static_cast<node_id>(kept.size());
    kept.push_back(std::move(p.nodes[k]));
    for (node_id &operand : kept.back().in) operand = at[operand];
  }
  p.nodes = std::move(kept);
  for (node_id &n : p.arguments) n = at[n];
  for (node_id &n : p.outputs) n = at[n];
  return p;
}

namespace {

std::string text_of(const program &p, const node &n) {
  std::string text = std::string(name_of(n.kind)) + "<";
  for (std::size_t k = 0; k < n.over.size(); ++k) text += (k ? ", " : "") + p.axes[n.over[k]].name;
  return text + ">";
}

bool same(const condition &a, const condition &b) {
  return a.what == b.what && a.a == b.a && a.b == b.b && a.c == b.c;
}

void demand(program &p, condition c) {
  std::vector<std::int64_t> size = static_sizes(p);
  const bool decided =
      size[c.a] >= 0 && size[c.b] >= 0 && (c.what == condition::same_size || size[c.c] >= 0);
  if (decided) {
    if (!holds(c, size)) throw std::invalid_argument(p.name + ": " + explain(p, c, size));
    return;
  }
  for (const condition &known : p.conditions)
    if (same(known, c)) return;
  p.conditions.push_back(std::move(c));
}

// " in X * 3e+09"
std::string place_of(const program &p, node_id operand) {
  const std::vector<node_id> users = users_of(p)[operand];
  return users.empty() ? "" : " in " + label_of(p, users[0]);
}

}  // namespace

program assembled(program p) {
  p = without_dead_steps(std::move(p));
  check_scans(p);
  const std::vector<node> nodes = p.nodes;
  for (const node &n : nodes) {
    if (n.kind == op::number && n.type == i32 &&
        (n.value != std::trunc(n.value) || n.value < std::numeric_limits<std::int32_t>::min() ||
         n.value > std::numeric_limits<std::int32_t>::max()))
      throw std::invalid_argument(
          fmt::format("{}: {:.15g}{} is not an i32", p.name, n.value,
                      place_of(p, static_cast<node_id>(&n - nodes.data()))));
    if (n.kind == op::rename && p.axes[n.over[0]].root != p.axes[n.over[1]].root)
      demand(p, {condition::same_size, n.over[1], n.over[0], -1, text_of(p, n)});
    if (n.kind == op::split || n.kind == op::merge)
      demand(p, {condition::product, n.over[0], n.over[1], n.over[2], text_of(p, n)});
    if (n.kind == op::concat)
      demand(p, {condition::sum, n.over[0], n.over[1], n.over.back(), text_of(p, n)});
  }
  return p;
}

}  // namespace qkv::codegen
