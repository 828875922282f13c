// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/strict.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "codegen/halide/lower/unsolved.hpp"

namespace qkv::codegen::strict {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

Expr intrinsic(Halide::Type t, Call::IntrinsicOp o, const Expr &a, const Expr &b) {
  return Call::make(t, o, {a, b}, Call::PureIntrinsic);
}

// Every float operation below a node in its strict form, each once.
class strictify : public IRGraphMutator {
  using IRGraphMutator::visit;

  template <class Node>
  Expr binary(const Node *x, Call::IntrinsicOp o) {
    if (!x->a.type().is_float()) return IRGraphMutator::visit(x);
    return intrinsic(x->type, o, mutate(x->a), mutate(x->b));
  }

  Expr visit(const Add *x) override { return binary(x, Call::strict_add); }
  Expr visit(const Sub *x) override { return binary(x, Call::strict_sub); }
  Expr visit(const Mul *x) override { return binary(x, Call::strict_mul); }
  Expr visit(const Div *x) override { return binary(x, Call::strict_div); }
  Expr visit(const Min *x) override { return binary(x, Call::strict_min); }
  Expr visit(const Max *x) override { return binary(x, Call::strict_max); }
  Expr visit(const LT *x) override { return binary(x, Call::strict_lt); }
  Expr visit(const LE *x) override { return binary(x, Call::strict_le); }
  Expr visit(const EQ *x) override { return binary(x, Call::strict_eq); }
  Expr visit(const GT *x) override {
    return x->a.type().is_float() ? mutate(x->b < x->a) : IRGraphMutator::visit(x);
  }
  Expr visit(const GE *x) override {
    return x->a.type().is_float() ? mutate(x->b <= x->a) : IRGraphMutator::visit(x);
  }
  Expr visit(const NE *x) override {
    return x->a.type().is_float() ? !mutate(x->a == x->b) : IRGraphMutator::visit(x);
  }
  // Leaves reads of other stages' results as they are; their coordinates are integers.
  Expr visit(const Call *x) override {
    return x->call_type == Call::Halide || x->call_type == Call::Image ? Expr(x)
                                                                       : IRGraphMutator::visit(x);
  }
};

// The comparison as Halide would write it, with its operands made of one type.
Expr comparison(const Expr &plain) { return strictify().mutate(plain); }

}  // namespace

Expr add(const Expr &a, const Expr &b) {
  return a.type().is_float() ? intrinsic(a.type(), Call::strict_add, a, b) : a + b;
}
Expr sub(const Expr &a, const Expr &b) {
  return a.type().is_float() ? intrinsic(a.type(), Call::strict_sub, a, b) : a - b;
}
Expr mul(const Expr &a, const Expr &b) {
  return a.type().is_float() ? intrinsic(a.type(), Call::strict_mul, a, b) : a * b;
}
Expr div(const Expr &a, const Expr &b) {
  return a.type().is_float() ? intrinsic(a.type(), Call::strict_div, a, b) : a / b;
}
Expr neg(const Expr &x) { return x.type().is_float() ? mul(x, make_const(x.type(), -1)) : -x; }

namespace {

// Literals that take part in a value. Positions at which another stage is read do not matter.
class literal_finder : public IRGraphVisitor {
 public:
  bool infinite = false;
  // A condition chooses one of two numbers, as a cast of booleans does: compilers move the product
  // into the choice. Or one that is the same at all positions chooses a number or a value:
  // compilers make a loop of each, and know the number in one of them.
  bool chosen = false;

 private:
  using IRGraphVisitor::visit;
  void visit(const FloatImm *x) override { infinite = infinite || std::isinf(x->value); }
  void visit(const Select *x) override {
    const bool first = is_const(x->true_value), second = is_const(x->false_value);
    chosen = chosen || (first && second && !x->type.is_bool()) ||
             ((first || second) && x->type.is_float() && !has_position(x->condition));
    IRGraphVisitor::visit(x);
  }
  void visit(const Cast *x) override {
    chosen = chosen || x->value.type().is_bool();
    IRGraphVisitor::visit(x);
  }
  void visit(const Call *x) override {
    if (x->call_type != Call::Halide && x->call_type != Call::Image) IRGraphVisitor::visit(x);
  }
  static bool has_position(const Expr &condition) {
    class : public IRGraphVisitor {
     public:
      bool found = false;

     private:
      using IRGraphVisitor::visit;
      void visit(const Variable *x) override { found = found || !x->param.defined(); }
    } variables;
    condition.accept(&variables);
    return variables.found;
  }
};

literal_finder literals_of(const Expr &x) {
  literal_finder f;
  x.accept(&f);
  return f;
}

}  // namespace

bool is_delicate(const Expr &x) {
  const literal_finder found = literals_of(x);
  return found.infinite || found.chosen;
}

namespace {

// The arithmetic of real numbers below a node, as Halide's own analysis takes it.
class of_real_numbers : public IRGraphMutator {
  using IRGraphMutator::visit;
  Expr visit(const Call *x) override {
    if (x->call_type == Call::Halide || x->call_type == Call::Image) return x;
    const Expr y = IRGraphMutator::visit(x);
    const Call *call = y.as<Call>();
    if (call && call->is_intrinsic(Call::strict_add)) return call->args[0] + call->args[1];
    if (call && call->is_intrinsic(Call::strict_sub)) return call->args[0] - call->args[1];
    if (call && call->is_intrinsic(Call::strict_mul)) return call->args[0] * call->args[1];
    return y;
  }
};

}  // namespace

Expr hide_zero(const Expr &x) {
  if (!x.type().is_float()) return x;
  // Shared parts become lets: simplify() visits a part once for each path to it.
  const Expr real = common_subexpression_elimination(of_real_numbers().mutate(x));
  if (!is_const_zero(simplify(real))) return x;
  const Expr bits = Halide::reinterpret(Halide::Int(x.type().bits()), x);
  return Halide::reinterpret(x.type(), opaque(bits));
}
Expr plus(const Expr &a, const Expr &b) {
  return literals_of(a).infinite || literals_of(b).infinite ? add(a, b) : a + b;
}
Expr times(const Expr &a, const Expr &b) {
  return is_delicate(a) || is_delicate(b) ? mul(a, b) : a * b;
}

Expr less(const Expr &a, const Expr &b) { return comparison(a < b); }
// On vectors of x86, Halide 21 computes a <= b as !(b < a), which NaN satisfies.
Expr less_equal(const Expr &a, const Expr &b) {
  return a.type().is_float() || b.type().is_float() ? less(a, b) || equal(a, b)
                                                    : comparison(a <= b);
}
Expr equal(const Expr &a, const Expr &b) { return comparison(a == b); }

namespace {

// The bits of |x| and those of infinity: NaN compares above, every finite number below.
struct magnitude {
  Expr bits, infinite;
};

magnitude magnitude_of(const Expr &x) {
  if (x.type().bits() == 64)
    return {
        Halide::reinterpret<std::int64_t>(x) & make_const(Halide::Int(64), std::int64_t{INT64_MAX}),
        make_const(Halide::Int(64), std::int64_t{0x7ff} << 52)};
  return {Halide::reinterpret<std::int32_t>(x) & Expr(INT32_MAX), Expr(0xff << 23)};
}

// Clears the bits that the longer type adds: 13 for f16 as f32, 29 for f32 as f64. They are 0
// already, so the value stays the same, but compilers do not know that.
Expr lengthened(const Expr &x) {
  const Expr wide = Halide::cast<float>(x);
  if (x.type().bits() == 16)
    return Halide::reinterpret<float>(Halide::reinterpret<std::int32_t>(wide) & Expr(-(1 << 13)));
  return Halide::reinterpret<double>(Halide::reinterpret<std::int64_t>(Halide::cast<double>(x)) &
                                     make_const(Halide::Int(64), -(std::int64_t{1} << 29)));
}

}  // namespace

Expr is_nan(const Expr &x) {
  const magnitude m = magnitude_of(x);
  return m.infinite < m.bits;
}
Expr is_finite(const Expr &x) {
  const magnitude m = magnitude_of(x);
  return m.bits < m.infinite;
}

namespace {

// Rounds to nearest even. Halide's own conversion carries into the sign of a NaN whose mantissa is
// all ones.
Expr to_bfloat(const Expr &x) {
  const Expr bits = Halide::reinterpret<std::uint32_t>(x), upper = bits >> 16;
  const Expr rounded = (bits + 0x7fff + (upper & 1)) >> 16;
  return Halide::reinterpret(Halide::BFloat(16), Halide::cast<std::uint16_t>(Halide::select(
                                                     strict::is_nan(x), upper | 0x40, rounded)));
}

// Rounds towards zero, saturates beyond the range, and gives 0 for NaN.
Expr to_whole(const Expr &x) {
  const auto number = [&](double v) { return make_const(x.type(), v); };
  const Expr high = number(0x1p31), low = number(-0x1p31);
  const Expr inside = less(low, x) && less(x, high);
  return Halide::select(inside, Halide::cast<int>(Halide::select(inside, x, number(0))),
                        less(x, number(0)), std::numeric_limits<int>::min(), less(number(0), x),
                        std::numeric_limits<int>::max(), 0);
}

}  // namespace

Expr cast(Halide::Type to, const Expr &x) {
  const Halide::Type from = x.type();
  if (from == to) return x;
  if (to.is_bfloat() && from.is_float())
    return to_bfloat(from.bits() == 32 ? x : strict::cast(Halide::Float(32), x));
  if (to == Halide::Int(32) && (from.is_float() || from.is_bfloat()))
    return to_whole(from.bits() < 32 ? strict::cast(Halide::Float(32), x) : x);
  const bool longer = from.is_float() && to.is_float() && !from.is_bfloat() && !to.is_bfloat() &&
                      from.bits() < to.bits();
  if (!longer) return Halide::cast(to, x);
  const Expr next = lengthened(x);
  return next.type().bits() < to.bits() ? lengthened(next) : next;
}

Expr weight_as_bf16(const Expr &x) {
  constexpr std::uint32_t half = 0x8000, largest = 0x7fffffff;
  const Expr magnitude = Halide::reinterpret<std::uint32_t>(x) & Expr(largest);
  // The limit keeps a NaN whose mantissa is all ones.
  const Expr rounded = Halide::min(magnitude + Expr(half), Expr(largest)) >> 16;
  return Halide::reinterpret(Halide::BFloat(16), Halide::cast<std::uint16_t>(rounded));
}

Expr bf16_in_hardware(const Expr &x) {
  // Halide's runtime has it as vcvtne2ps2bf16x32.
  return Halide::Internal::Call::make(Halide::BFloat(16), "vcvtne2ps2bf16", {x},
                                      Halide::Internal::Call::PureExtern);
}

}  // namespace qkv::codegen::strict
