#include "codegen/lower/reductions.hpp"

#include <limits>
#include <stdexcept>

#include "codegen/lower/math.hpp"
#include "codegen/stages/queries.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::select;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float lowest = std::numeric_limits<float>::lowest();

Expr plus(Expr a, Expr b) { return a + b; }
// NaN comes through
Expr larger(Expr a, Expr b) {
  if (!a.type().is_float()) return Halide::max(a, b);
  return select(Halide::is_nan(a) || math::above(a, b), a, b);
}
Expr smaller(Expr a, Expr b) {
  if (!a.type().is_float()) return Halide::min(a, b);
  return select(Halide::is_nan(a) || math::below(a, b), a, b);
}

// What an empty maximum and minimum give.
Expr lowest_of(const node &n) { return n.type == i32 ? Halide::Int(32).min() : Expr(-infinity); }
Expr highest_of(const node &n) { return n.type == i32 ? Halide::Int(32).max() : Expr(infinity); }

// exp(x - m) where a row of only -inf counts as empty
Expr shifted(const Expr &x, const Expr &m) {
  return math::exp_nonpositive(x - select(math::below(m, lowest), 0.f, m));
}

}  // namespace

Expr reductions::zero_of(const node &n) { return Halide::cast(halide_type(n.type), 0); }

value reductions::operand(const node &n, const indices &at) const {
  value v = read_(n.in[0], at);
  v.number = Halide::cast(halide_type(n.type), v.number);
  return v;
}

Expr reductions::maximum(const node &n) const {
  return run_(n, {"max", lowest_of(n), larger, [&](const indices &at) { return operand(n, at); }});
}

// sum exp(x - m)
Expr reductions::total(const node &n, const Expr &m) const {
  return run_(n, {"total", 0.f, plus, [&, m](const indices &at) {
                    const value v = operand(n, at);
                    return value{shifted(v.number, m), v.present};
                  }});
}

// How many elements mean() divides by: all, unless mask() may have removed some.
Expr reductions::count_of(const node &n) const {
  if (masked_steps(c_.p)[n.in[0]])
    return run_(n, {"count", 0.f, plus,
                    [&](const indices &at) { return value{1.f, operand(n, at).present}; }});
  Expr count = 1.f;
  for (axis_id a : n.over) count = count * Halide::cast<float>(c_.size(a));
  return count;
}

value reductions::at(const node &n, const indices &here) const {
  const auto own = [&](const indices &at) { return operand(n, at); };
  switch (n.kind) {
    case op::sum:
      return {run_(n, {"sum", zero_of(n), plus, own}), {}};
    case op::max_over:
      return {maximum(n), {}};
    case op::min_over:
      return {run_(n, {"min", highest_of(n), smaller, own}), {}};
    case op::mean: {
      const Expr sum = run_(n, {"sum", zero_of(n), plus, own}), count = count_of(n);
      return {select(math::is_zero(count), 0.f, sum / count), {}};
    }
    case op::logsumexp: {
      const Expr m = maximum(n), l = total(n, m);
      return {select(math::is_zero(l), -infinity, m + math::log(l)), {}};
    }
    case op::softmax: {
      const Expr m = maximum(n), l = total(n, m);
      const value v = operand(n, here);
      return {select(math::is_zero(l), 0.f, or_else({shifted(v.number, m) / l, v.present}, 0.f)),
              {}};
    }
    case op::normalize: {
      const Expr l = run_(n, {"total", 0.f, plus, own});
      const value v = operand(n, here);
      return {select(math::is_zero(l), 0.f, or_else({v.number / l, v.present}, 0.f)), {}};
    }
    case op::dot: {
      const auto product = [&](const indices &at) {
        const value a = read_(n.in[0], at), b = read_(n.in[1], at);
        const Halide::Type t = halide_type(n.type);
        return value{Halide::cast(t, a.number) * Halide::cast(t, b.number),
                     both(a.present, b.present)};
      };
      return {run_(n, {"dot", zero_of(n), plus, product}), {}};
    }
    default:
      throw std::logic_error("no fold for " + std::string(name_of(n.kind)));
  }
}

}  // namespace qkv::codegen
