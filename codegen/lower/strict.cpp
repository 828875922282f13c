#include "codegen/lower/strict.hpp"

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
  // What another stage stored is a number like any other; its coordinates are whole.
  Expr visit(const Call *x) override {
    return x->call_type == Call::Halide || x->call_type == Call::Image ? Expr(x)
                                                                       : IRGraphMutator::visit(x);
  }
};

// The comparison as Halide would write it, with its operands made of one type.
Expr comparison(const Expr &plain) { return strictify().mutate(plain); }

}  // namespace

Expr add(const Expr &a, const Expr &b) { return intrinsic(a.type(), Call::strict_add, a, b); }
Expr sub(const Expr &a, const Expr &b) { return intrinsic(a.type(), Call::strict_sub, a, b); }
Expr less(const Expr &a, const Expr &b) { return comparison(a < b); }
Expr less_equal(const Expr &a, const Expr &b) { return comparison(a <= b); }
Expr equal(const Expr &a, const Expr &b) { return comparison(a == b); }

Expr is_nan(const Expr &x) {
  const Expr same = strictify().mutate(x);
  return Call::make(Halide::Bool(x.type().lanes()),
                    x.type().bits() == 64 ? "is_nan_f64" : "is_nan_f32", {same}, Call::PureExtern);
}

}  // namespace qkv::codegen::strict
