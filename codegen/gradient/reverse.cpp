// SPDX-License-Identifier: BSL-1.0
#include "codegen/gradient/reverse.hpp"

#include <fmt/format.h>

#include <qkv/core/types.hpp>
#include <stdexcept>

#include "codegen/program/queries.hpp"
#include "codegen/program/scans.hpp"
#include "codegen/program/text.hpp"

namespace qkv::codegen::adjoint {
namespace {

program without_results(program p) {
  p.outputs.clear();
  p.name += "_gradient";
  return p;
}

}  // namespace

bool is_differentiable(dtype t) { return qkv::detail::is_float(t); }

reverse::reverse(const program &p, const std::vector<node_id> &wanted)
    : forward(p),
      f(without_results(p)),
      here(f),
      forward_values(f, here, static_cast<node_id>(p.nodes.size())),
      users(users_of(p)),
      positions(walked_axes(p)),
      wanted_(p.nodes.size(), false),
      sums_(p.nodes.size(), no_node) {
  for (node_id n : wanted) wanted_[n] = true;
  for (std::size_t n = 0; n < p.nodes.size(); ++n)
    for (node_id operand : p.nodes[n].in)
      wanted_[n] = wanted_[n] || (wanted_[operand] && is_differentiable(p.nodes[n].type));
}

dtype reverse::type_of(node_id n) const { return qkv::detail::as_float(forward[n].type); }

node_id reverse::value(node_id n, node_id like) {
  return f.cast(forward_values.value(n), type_of(like));
}

node_id reverse::factor(node_id n, node_id like) {
  return f.cast(forward_values.factor(n), type_of(like));
}

// The rules of sums, signs and products accept an adjoint with more axes than their step.
bool reverse::keeps_axes(node_id n, node_id g) const {
  const op kind = forward[n].kind;
  const core::linear_rule linear = core::facts_of(kind).linear;
  return grows_with_pairs(f.written(), g) && is_pointwise(kind) &&
         (linear == core::linear_rule::each || linear == core::linear_rule::together);
}

// A sum of absent elements alone is absent, not 0: the slope that multiplies it may be infinite.
node_id reverse::summed(node_id g, const axes &over) {
  const node_id where = here.of(g), total = f.reduce(op::sum, g, over);
  if (where == everywhere || varies_along(f.written()[f.unexpanded(where)], over)) return total;
  return here.limited(total, f.unexpanded(where));
}

void reverse::give(node_id n, node_id g) {
  if (!wants(n)) return;
  const auto kept = [&](node_id x) { return without(f.shape(x), forward[n].shape); };
  if (!keeps_axes(n, g)) g = summed(g, kept(g));
  g = f.cast(g, type_of(n));
  if (sums_[n] == no_node) {
    sums_[n] = g;
    return;
  }
  node_id before = sums_[n];
  if (!same_set(kept(before), kept(g)))  // each is summed over its own axes
    before = summed(before, kept(before)), g = summed(g, kept(g));
  sums_[n] = here.sum(before, g);
}

void reverse::give_product(node_id n, node_id g, node_id by) {
  if (!wants(n)) return;
  give(n, f.dot(g, by, without(with(f.shape(g), f.shape(by)), forward[n].shape)));
}

node_id reverse::adjoint(node_id n) {
  if (sums_[n] == no_node) return no_node;
  return sums_[n] = here.limited(f.expand(sums_[n], with(forward[n].shape, f.shape(sums_[n]))),
                                 here.of(n));
}

std::runtime_error reverse::refusal(node_id n, const std::string &why) const {
  return std::runtime_error(
      fmt::format("{}_gradient: {}: {}", forward.name, why, label_of(forward, n)));
}

}  // namespace qkv::codegen::adjoint
