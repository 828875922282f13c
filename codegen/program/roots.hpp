// SPDX-License-Identifier: BSL-1.0
#pragma once
// Scales of scores: numbers, sizes and their roots.
#include <cmath>
#include <optional>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

// The number that a step is whatever the call: 3, sqrt(size(d_k)), 1 / sqrt(size(d_k)).
inline std::optional<double> known_number(const program &p, node_id n) {
  n = inner_of(p, n);
  const node &x = p[n];
  if (x.kind == op::number) return x.value;
  if (!x.name.empty()) return {};
  if (x.kind == op::size) {
    const std::int64_t size = static_size(p, x.over[0]);
    return size < 0 ? std::nullopt : std::optional(static_cast<double>(size));
  }
  if (x.kind == op::sqrt || x.kind == op::rsqrt) {
    const std::optional<double> of = known_number(p, x.in[0]);
    if (!of || *of <= 0) return {};
    return x.kind == op::sqrt ? std::sqrt(*of) : 1 / std::sqrt(*of);
  }
  if (x.kind != op::mul && x.kind != op::div && x.kind != op::pow) return {};
  const std::optional<double> a = known_number(p, x.in[0]), b = known_number(p, x.in[1]);
  if (!a || !b) return {};
  if (x.kind == op::pow) return *a > 0 ? std::optional(std::pow(*a, *b)) : std::nullopt;
  return x.kind == op::mul ? *a * *b : *a / *b;
}

// A step and the number that multiplies it.
struct scaled_step {
  node_id of;
  double by = 1;
};
inline scaled_step without_scale(const program &p, node_id n) {
  scaled_step s{inner_of(p, n)};
  while (p[s.of].name.empty() && (p[s.of].kind == op::mul || p[s.of].kind == op::div)) {
    const node &x = p[s.of];
    const std::optional<double> right = known_number(p, x.in[1]);
    const std::optional<double> left =
        x.kind == op::mul ? known_number(p, x.in[0]) : std::optional<double>();
    if (!right && !left) break;
    if (right)
      s = {inner_of(p, x.in[0]), x.kind == op::mul ? s.by * *right : s.by / *right};
    else
      s = {inner_of(p, x.in[1]), s.by * *left};
  }
  return s;
}

inline bool nearly(double a, double b) { return std::abs(a - b) <= 1e-3 * std::abs(b); }

// True for the root of the size of an axis, whose size is static.
inline bool is_root_of(const program &p, double number, axis_id a) {
  const std::int64_t size = static_size(p, a);
  return size > 1 && nearly(number * number, static_cast<double>(size));
}

}  // namespace qkv::codegen
