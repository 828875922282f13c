// SPDX-License-Identifier: BSL-1.0
#pragma once
// Small questions about sets of axes and about steps of a program.
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

inline bool has(const std::vector<axis_id> &axes, axis_id a) {
  return std::find(axes.begin(), axes.end(), a) != axes.end();
}

inline std::vector<axis_id> without(std::vector<axis_id> axes, const std::vector<axis_id> &drop) {
  std::erase_if(axes, [&](axis_id a) { return has(drop, a); });
  return axes;
}

inline std::vector<axis_id> with(std::vector<axis_id> axes, const std::vector<axis_id> &more) {
  for (axis_id a : more)
    if (!has(axes, a)) axes.push_back(a);
  return axes;
}

inline bool contains(const std::vector<axis_id> &axes, const std::vector<axis_id> &all) {
  return std::all_of(all.begin(), all.end(), [&](axis_id a) { return has(axes, a); });
}

inline bool same_set(const std::vector<axis_id> &a, const std::vector<axis_id> &b) {
  return a.size() == b.size() && contains(b, a);
}

inline bool varies_along(const node &n, const std::vector<axis_id> &along) {
  return std::any_of(along.begin(), along.end(), [&](axis_id a) { return has(n.shape, a); });
}

inline std::vector<std::vector<node_id>> users_of(const program &p) {
  std::vector<std::vector<node_id>> users(p.nodes.size());
  for (std::size_t n = 0; n < p.nodes.size(); ++n)
    for (node_id operand : p.nodes[n].in) users[operand].push_back(static_cast<node_id>(n));
  return users;
}

// Per step: true if its value depends on an index().
inline std::vector<bool> steps_of_positions(const program &p) {
  std::vector<bool> positions;
  for (const node &n : p.nodes)
    positions.push_back(
        n.kind == op::index ||
        std::any_of(n.in.begin(), n.in.end(), [&](node_id m) { return positions[m]; }));
  return positions;
}

inline node_id unbroadcast(const program &p, node_id n) {
  while (p[n].kind == op::broadcast) n = p[n].in[0];
  return n;
}

// True for index(kv) + first_kv: a position in the whole axis, which is never longer than any
// other.
inline bool is_position_in_whole(const program &p, const node &x) {
  if (x.kind != op::add || x.type != i32) return false;
  const node &a = p[unbroadcast(p, x.in[0])], &b = p[unbroadcast(p, x.in[1])];
  return (a.kind == op::index && b.is_position) || (b.kind == op::index && a.is_position);
}

// The step whose numbers this one has along the same axes: through broadcasts and conversions that
// no let() names.
inline node_id unconverted(const program &p, node_id n) {
  const auto is_same = [&](const node &x) {
    return x.kind == op::broadcast ||
           (x.kind == op::cast && is_floating(x.type) && p[x.in[0]].type != b8);
  };
  while (p[n].name.empty() && is_same(p[n])) n = p[n].in[0];
  return n;
}

// The same, through renames, too.
inline node_id inner_of(const program &p, node_id n) {
  n = unconverted(p, n);
  while (p[n].name.empty() && p[n].kind == op::rename) n = unconverted(p, p[n].in[0]);
  return n;
}

// The same, of all positions where a scan reads one.
inline node_id of_all_positions(const program &p, node_id n) {
  n = inner_of(p, n);
  while (p[n].name.empty() && p[n].kind == op::element) n = inner_of(p, p[n].in[0]);
  return n;
}

// True where the name holds one of these.
inline bool has_word(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return name.find(word) != name.npos; });
}

// True for an input or a param, whose name is that of the signature.
inline bool is_argument(const node &x) { return x.kind == op::input || x.kind == op::param; }

inline bool is_number(const program &p, node_id n) { return p[n].kind == op::number; }

// True for a step of this kind that no let() names.
inline bool is_unnamed(const program &p, op kind, node_id n) {
  return p[n].kind == kind && p[n].name.empty();
}

// True for pointwise steps that multiply their operand k by a factor: x * y, x / y of x, -x.
inline bool scales(op kind, std::size_t k) {
  const core::linear_rule linear = core::facts_of(kind).linear;
  return is_pointwise(kind) &&
         (linear == core::linear_rule::each || (linear == core::linear_rule::first && k == 0));
}

// The step without factors that are one number.
inline node_id unscaled(const program &p, node_id n) {
  n = inner_of(p, n);
  while (p[n].name.empty()) {
    const node &x = p[n];
    const bool is_product = x.kind == op::mul || x.kind == op::div;
    if (x.kind == op::neg || (is_product && p[x.in[1]].shape.empty()))
      n = inner_of(p, x.in[0]);
    else if (x.kind == op::mul && p[x.in[0]].shape.empty())
      n = inner_of(p, x.in[1]);
    else
      break;
  }
  return n;
}

// A choice that the sizes of the call make for all positions at once: the other branch is not
// computed.
inline bool is_alternative(const program &p, const node &n) {
  return n.kind == op::where && p[n.in[0]].shape.empty();
}

// True if the call chooses between this step and another one: the one that is not chosen is skipped
// with its whole stage.
inline bool is_one_of_two_orders(const program &p, const std::vector<node_id> &users) {
  return std::any_of(users.begin(), users.end(),
                     [&](node_id user) { return is_alternative(p, p[user]); });
}

// A step that is recomputed where it is used, unless something requires it to be stored.
inline bool is_inlinable(const program &p, node_id n) {
  const op k = p[n].kind;
  return is_source(k) || k == op::uniform || is_pointwise(k) || is_view(k) || is_gather(k) ||
         k == op::mask;
}

// A step whose value is a few instructions away from its operands' values.
inline bool is_cheap(const program &p, node_id n) {
  return core::facts_of(p[n].kind).cheap && is_inlinable(p, n);
}

// The axes of a step whose sizes the call decides, and which are not batches.
inline std::ptrdiff_t growing_axes(const program &p, node_id n) {
  return std::count_if(p[n].shape.begin(), p[n].shape.end(),
                       [&](axis_id a) { return static_size(p, a) < 0 && !p.axes[a].batch; });
}

// True if a step grows with the product of two sizes of the call that are not batches, as scores
// do.
inline bool grows_with_pairs(const program &p, node_id n) { return growing_axes(p, n) > 1; }

// Per step: whether mask() may have removed positions that the step still knows to be absent.
inline std::vector<bool> masked_steps(const program &p) {
  std::vector<bool> masked;
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
    bool some = p[n].kind == op::mask;
    if (is_inlinable(p, n))
      for (node_id operand : p[n].in) some = some || masked[operand];
    masked.push_back(some);
  }
  return masked;
}

// Per step: true if it may hold empty weights, the zeros that softmax and normalize put where
// mask() removed a score. Products with an empty weight do not count, even if the other factor is
// NaN. A pointwise step keeps a weight empty if its result is 0.
inline std::vector<bool> steps_with_empty_weights(const program &p) {
  const std::vector<bool> masked = masked_steps(p);
  std::vector<bool> empty;
  for (const node &n : p.nodes) {
    bool some = makes_weights(n.kind) && masked[n.in[0]];
    if (is_floating(n.type) &&
        (is_pointwise(n.kind) || is_view(n.kind) || is_gather(n.kind) || n.kind == op::mask ||
         n.kind == op::output) &&
        n.kind != op::element)
      for (node_id operand : n.in) some = some || empty[operand];
    empty.push_back(some);
  }
  return empty;
}

// Per step: true if elements may be absent or empty weights, so that some products with them do not
// count.
inline std::vector<bool> steps_with_gaps(const program &p) {
  std::vector<bool> gaps = masked_steps(p);
  const std::vector<bool> empty = steps_with_empty_weights(p);
  for (std::size_t n = 0; n < gaps.size(); ++n) gaps[n] = gaps[n] || empty[n];
  return gaps;
}

}  // namespace qkv::codegen
