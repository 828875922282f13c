// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/expression.hpp"

#include <limits>
#include <qkv/core/hash.hpp>
#include <qkv/core/types.hpp>
#include <stdexcept>

#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/numbers.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/halide/lower/unsolved.hpp"

namespace qkv::codegen {

using Halide::Expr;

Expr both(Expr a, Expr b) {
  if (!a.defined()) return b;
  if (!b.defined()) return a;
  return a && b;
}

Expr counts(const value &v) { return v.empty.defined() ? both(v.present, !v.empty) : v.present; }

value product(const value &a, const value &b, Halide::Type t) {
  const auto factor = [&](const value &v) { return strict::hide_zero(strict::cast(t, v.number)); };
  return {strict::times(factor(a), factor(b)), both(counts(a), counts(b))};
}

Expr or_else(const value &v, Expr when_absent) {
  return v.present.defined() ? choose(v.present, v.number, when_absent) : v.number;
}

Expr stored_form(const value &v, dtype t) {
  const Expr number = strict::cast(halide_type(t), v.number);
  const bool is_float = number.type().is_float() || number.type().is_bfloat();
  const Expr absent = is_float
                          ? Halide::cast(number.type(), -std::numeric_limits<float>::infinity())
                          : Halide::cast(number.type(), 0);
  return v.present.defined() ? choose(v.present, number, absent) : number;
}

namespace {

Expr as(dtype t, const Expr &e) {
  if (t != b8) return strict::cast(halide_type(t), e);
  if (e.type().is_bool()) return e;
  const bool stored = e.type().bits() == 16;  // -0 is 0, but its bits are not
  const Expr number = stored ? strict::cast(Halide::Float(32), e) : e;
  return !strict::equal(number, Halide::cast(number.type(), 0));
}

Expr computed(op o, const Expr &x, const Expr &y) { return meaning_of<halide_numbers>(o, x, y); }

// Integer arithmetic that wraps around. Halide assumes that i32 does not overflow, and OpenCL
// compilers may: for operands without bounds, a + 1 <= b must not become a <= b - 1.
Expr wrapping(op o, const Expr &a, const Expr &b) {
  const auto bits = [](const Expr &e) { return Halide::cast<std::uint32_t>(e); };
  return Halide::cast<int>(computed(o, bits(a), bits(b)));
}

}  // namespace

namespace {

value chosen(const Expr &condition, const value &a, const value &b) {
  value v{choose(condition, a.number, b.number), {}};
  if (a.present.defined() || b.present.defined()) {
    const Expr yes = Halide::Internal::const_true();
    v.present = choose(condition, a.present.defined() ? a.present : yes,
                       b.present.defined() ? b.present : yes);
  }
  return v;
}

}  // namespace

value expression::at(node_id n, const indices &i) {
  const node &x = c_.p[n];
  std::vector<const void *> where;
  for (axis_id a : x.shape) where.push_back(i.at(a).get());
  const auto key = std::make_pair(n, where);
  if (auto it = seen_.find(key); it != seen_.end()) return it->second;
  for (axis_id a : x.shape) alive_.push_back(i.at(a));
  value v = compute(n, i);
  if (c_.may_be_empty[n]) v.empty = emptiness(n, i, v.number);
  seen_[key] = v;
  return v;
}

value expression::definition(node_id n, const indices &i) {
  if (own_)
    if (auto v = own_(n, i)) return *v;
  return apply(n, i);
}

value expression::compute(node_id n, const indices &i) {
  if (own_)
    if (auto v = own_(n, i)) return *v;
  const node &x = c_.p[n];
  const bool argument = x.kind == op::input || x.kind == op::param;
  if (argument || c_.is_stored(n) || c_.has(n)) return {as(x.type, c_.read(n, i)), {}};
  return apply(n, i);
}

// Computed from the step's operands, whether or not the step is stored.
Expr expression::emptiness(node_id n, const indices &i, const Expr &number) {
  const node &x = c_.p[n];
  const auto of = [&](std::size_t operand, const indices &at) {
    if (!c_.may_be_empty[x.in[operand]]) return Halide::Internal::const_false();
    const value v = this->at(x.in[operand], at);
    return v.empty.defined() ? v.empty : Halide::Internal::const_false();
  };
  if (makes_weights(x.kind)) {
    const Expr present = at(x.in[0], i).present;
    return present.defined() ? !present : Expr();
  }
  if (x.kind == op::where) {
    const Expr condition = as(b8, at(x.in[0], i).number);
    return choose(condition, of(1, i), of(2, i));
  }
  if (x.kind == op::take) return of(0, taken_from(x, i)) && c_.size(x.over[0]) > 0;
  if (x.kind == op::concat) {
    const joint j = joint_at(x, i);
    return choose(j.in_first, of(0, j.first), of(1, j.second));
  }
  if (is_view(x.kind)) return of(0, through_view(x, i));
  if (!is_pointwise(x.kind)) return of(0, i);
  Expr any = of(0, i);
  for (std::size_t k = 1; k < x.in.size(); ++k) any = any || of(k, i);
  return x.kind == op::mul ? any : any && math::is_zero(number);
}

value expression::apply(node_id n, const indices &i) {
  const node &x = c_.p[n];
  switch (x.kind) {
    case op::number:
      return {is_floating(x.type) ? math::constant(halide_type(x.type), x.value)
                                  : as(x.type, Expr(static_cast<int>(x.value))),
              {}};
    case op::index:
      return {i.at(x.over[0]), {}};
    case op::size:
      return {c_.size(x.over[0]), {}};
    case op::uniform: {
      std::vector<Expr> position;
      for (std::size_t d = 0; d < x.over.size(); ++d) {
        Expr p = i.at(x.over[d]);
        if (x.in.size() > d + 1) p += at(x.in[d + 1], i).number;
        position.push_back(Halide::cast<std::uint32_t>(p));
      }
      const Expr seed = Halide::cast<std::uint32_t>(at(x.in[0], i).number);
      const Expr bits = Halide::cast<int>(detail::random_bits(position, seed));
      return {Halide::cast<float>(bits) * 0x1p-24f, {}};
    }
    case op::output:
      return at(x.in[0], i);
    case op::mask: {
      value s = at(x.in[0], i), keep = at(x.in[1], i);
      s.present = both(both(s.present, as(b8, keep.number)), keep.present);
      return s;
    }
    default:
      break;
  }
  if (x.kind == op::take) return taken(x, i);
  if (x.kind == op::concat) return joined(x, i);
  if (is_view(x.kind)) return at(x.in[0], through_view(x, i));
  if (is_pointwise(x.kind)) return pointwise(n, i);
  throw std::logic_error("step " + context::label(c_.p, n) + " must be stored");
}

value expression::pointwise(node_id n, const indices &i) {
  const node &x = c_.p[n];
  if (x.kind == op::where) {
    value c = at(x.in[0], i), a = at(x.in[1], i), b = at(x.in[2], i);
    Expr condition = as(b8, c.number);
    value v =
        chosen(condition, {as(x.type, a.number), a.present}, {as(x.type, b.number), b.present});
    v.present = both(v.present, c.present);
    return v;
  }
  value a = at(x.in[0], i);
  if (x.kind == op::log && x.type == f32 && for_positions_ && !reads_memory(a.number))
    return {math::rough_log(as(x.type, a.number)), a.present};
  if ((x.kind == op::neg || x.kind == op::abs) && c_.whole.wraps[n]) {
    const Expr whole = as(i32, a.number), negative = wrapping(op::sub, 0, whole);
    return {x.kind == op::neg ? negative : Halide::select(whole < 0, negative, whole), a.present};
  }
  if (is_unary(x.kind)) {
    const Expr operand = as(x.type, a.number);
    if (x.kind == op::exp && x.less_maximum) return {math::exp_nonpositive(operand), a.present};
    return {x.kind == op::cast ? operand : computed(x.kind, operand, operand), a.present};
  }
  value b = at(x.in[1], i);
  dtype t = x.type;
  if (x.kind == op::mul && (a.empty.defined() || b.empty.defined())) {
    const Expr none = Halide::Internal::const_false(), zero = math::constant(halide_type(t), 0);
    const Expr empty = (a.empty.defined() ? a.empty : none) || (b.empty.defined() ? b.empty : none);
    return {Halide::select(empty, zero, strict::mul(as(t, a.number), as(t, b.number))),
            both(a.present, b.present)};
  }
  if (is_comparison(x.kind)) t = detail::common_type(c_.p[x.in[0]].type, c_.p[x.in[1]].type);
  if (c_.whole.unsolvable[n]) guard_comparison(a.number, b.number);
  const auto compute = c_.whole.wraps[n] ? wrapping : computed;
  return {compute(x.kind, as(t, a.number), as(t, b.number)), both(a.present, b.present)};
}

// True for arguments, also through views and casts. An empty argument reads as zeros.
bool expression::is_argument(node_id n) const {
  const node &x = c_.p[n];
  return x.kind == op::input || x.kind == op::param ||
         ((is_view(x.kind) || x.kind == op::cast) && is_argument(x.in[0]));
}

value expression::taken(const node &x, const indices &i) {
  value v = at(x.in[0], taken_from(x, i));
  v.present = both(v.present, position_of(x, i).present);
  // An empty table gives 0, whatever its steps compute at position 0, or an absent element if
  // positions may be absent.
  const Expr some = c_.size(x.over[0]) > 0;
  if (v.present.defined())
    v.present = both(v.present, some);
  else if (!Halide::Internal::is_const(c_.size(x.over[0])) && !is_argument(x.in[0]))
    v.number = choose(some, v.number, Halide::cast(v.number.type(), 0));
  return v;
}

value expression::position_of(const node &take, const indices &i) {
  if (for_positions_) return at(take.in[1], i);
  if (!positions_) {
    positions_ = std::make_unique<expression>(c_, own_);
    positions_->for_positions_ = true;
  }
  return positions_->at(take.in[1], i);
}

indices expression::taken_from(const node &x, const indices &i) {
  indices inner = i;
  inner[x.over[0]] = c_.within(x.over[0], position_of(x, i).number);
  return inner;
}

value expression::joined(const node &x, const indices &i) {
  const joint j = joint_at(x, i);
  value a = at(x.in[0], j.first), b = at(x.in[1], j.second);
  // A 16-bit number read from memory is an f32 already, one that was just rounded is not.
  const Halide::Type t =
      a.number.type().bits() < b.number.type().bits() ? b.number.type() : a.number.type();
  a.number = strict::cast(t, a.number);
  b.number = strict::cast(t, b.number);
  return chosen(j.in_first, a, b);
}

expression::joint expression::joint_at(const node &x, const indices &i) const {
  const Expr here = i.at(x.over[0]), first = c_.size(x.over[1]);
  joint j{here < first, i, i};
  j.first[x.over[1]] = c_.within(x.over[1], here);
  j.second[x.over.back()] = c_.within(x.over.back(), here - first);
  return j;
}

indices expression::through_view(const node &x, const indices &i) const {
  indices inner = i;
  const auto &o = x.over;
  switch (x.kind) {
    case op::rename:
      inner[o[0]] = i.at(o[1]);
      break;
    case op::split: {
      const Expr whole = i.at(o[1]) * c_.size(o[2]) + i.at(o[2]);
      // The whole may be empty although one of its parts is not.
      const bool is_static = Halide::Internal::is_const(c_.size(o[0]));
      inner[o[0]] = is_static ? whole : c_.within(o[0], Halide::likely(whole));
      break;
    }
    case op::merge:
      inner[o[1]] = i.at(o[0]) / Halide::max(c_.size(o[2]), 1);
      inner[o[2]] = i.at(o[0]) % Halide::max(c_.size(o[2]), 1);
      break;
    default:
      break;
  }
  return inner;
}

}  // namespace qkv::codegen
