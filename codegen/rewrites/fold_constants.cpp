// SPDX-License-Identifier: BSL-1.0
// Before: dot(Q, K) / sqrt(cast<f32>(size(d_k)))     After: dot(Q, K) * 0.125      (d_k = 64)
#include <cmath>
#include <optional>
#include <qkv/core/half.hpp>

#include "codegen/program/meaning.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/step_value.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

std::optional<double> constant_of(const program &p, node_id n) {
  if (p[n].kind == op::number) return p[n].value;
  return std::nullopt;
}

// The value that a step of this type holds: i32 wraps around, 16-bit values are rounded. Constants
// of f32 and f64 stay exact here and are rounded once, in compiled code.
double kept(dtype type, double value) {
  if (type == i32) return wrapped(static_cast<std::int64_t>(value));
  return type == bf16 || type == f16 ? stored(type, value) : value;
}

// Sizes that are known, numbers that are cast, and what else is pointwise of one or two numbers.
std::optional<double> folded(const program &p, const node &n) {
  if (n.kind == op::size && p.axes[n.over[0]].size >= 0)
    return static_cast<double>(p.axes[n.over[0]].size);
  const bool casts = n.kind == op::cast && is_floating(n.type);
  if (!casts && (!has_meaning(n.kind) || n.type == b8)) return std::nullopt;
  double v[3] = {};
  for (std::size_t k = 0; k < n.in.size(); ++k) {
    const auto c = constant_of(p, n.in[k]);
    if (!c) return std::nullopt;
    v[k] = *c;
  }
  return casts ? v[0] : value_of(n, v);
}

// Per step: true if a comparison or a conversion to whole numbers reads its value, as it is or in a
// formula: cast<i32>(index(kv) / 41), (x + 1) / 47 >= 1.
std::vector<bool> decisive_steps(const program &p) {
  std::vector<bool> decisive(p.nodes.size());
  for (std::size_t n = p.nodes.size(); n-- > 0;) {
    const node &x = p.nodes[n];
    const bool decides = is_comparison(x.kind) || (x.kind == op::cast && !is_floating(x.type));
    const bool hands_on =
        decisive[n] && (is_inlinable(p, static_cast<node_id>(n)) || is_reduction(x.kind));
    if (!decides && !hands_on) continue;
    for (const node_id operand : x.in) decisive[operand] = true;
  }
  return decisive;
}

// True for 41, 20.5 and others of few bits: an f32 may be a multiple of them.
bool has_few_bits(double x) {
  int exponent;
  const double digits = std::ldexp(std::frexp(x, &exponent), 24);
  return digits == std::floor(digits);
}

// The c of x * c that replaces x / by. A quotient that decides something stays where it may be
// whole: 41 * (1 / 41.f) is less than 1.
std::optional<double> factor_of(double by, bool decides) {
  int exponent;
  const bool is_exact = std::fabs(std::frexp(by, &exponent)) == 0.5;
  if (decides && !is_exact && has_few_bits(by)) return std::nullopt;
  return std::isnormal(static_cast<float>(1 / by)) ? std::optional(1 / by) : std::nullopt;
}

}  // namespace

program fold_constants(const program &p) {
  const std::vector<bool> decisive = decisive_steps(p);
  rebuild r(p);
  node_id at = 0;
  return r.run([&](node n) -> node_id {
    const bool decides = decisive[at++];
    if (const auto value = folded(r.to(), n)) {
      node c;
      c.kind = op::number;
      c.type = n.type;
      c.value = kept(n.type, *value);
      return r.put(std::move(c));
    }
    if (n.kind == op::cast && r.to()[n.in[0]].type == n.type) return n.in[0];
    if (is_floating(n.type) && n.kind == op::div) {
      const auto by = constant_of(r.to(), n.in[1]);
      if (const auto factor = by ? factor_of(*by, decides) : std::nullopt) {
        n.kind = op::mul;
        n.in[1] = r.number(*factor, n.type);
      }
    }
    if (is_floating(n.type) && n.kind == op::mul) {
      if (constant_of(r.to(), n.in[0])) std::swap(n.in[0], n.in[1]);
      auto c = constant_of(r.to(), n.in[1]);
      if (c && *c == 1 && r.to()[n.in[0]].type == n.type && r.to()[n.in[0]].shape == n.shape)
        return n.in[0];
    }
    return r.put(std::move(n));
  });
}

}  // namespace qkv::codegen
