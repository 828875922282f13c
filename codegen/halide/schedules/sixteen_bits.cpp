// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/sixteen_bits.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using Halide::Type;

namespace {

Type integers(const Type &t) { return t.with_code(halide_type_uint); }

template <class Node>
Type operand_of(const Expr &e) {
  return e.as<Node>()->a.type();
}

// The type of the numbers that an operation computes with or compares; that of a boolean where it
// does neither.
Type computed_with(const Expr &e) {
  switch (e.node_type()) {
    case hi::IRNodeType::Add:
    case hi::IRNodeType::Sub:
    case hi::IRNodeType::Mul:
    case hi::IRNodeType::Div:
    case hi::IRNodeType::Mod:
    case hi::IRNodeType::Min:
    case hi::IRNodeType::Max:
    case hi::IRNodeType::VectorReduce:
      return e.type();
    case hi::IRNodeType::EQ:
      return operand_of<hi::EQ>(e);
    case hi::IRNodeType::NE:
      return operand_of<hi::NE>(e);
    case hi::IRNodeType::LT:
      return operand_of<hi::LT>(e);
    case hi::IRNodeType::LE:
      return operand_of<hi::LE>(e);
    case hi::IRNodeType::GT:
      return operand_of<hi::GT>(e);
    case hi::IRNodeType::GE:
      return operand_of<hi::GE>(e);
    default:
      return Halide::Bool();
  }
}

}  // namespace

bool sixteen_bits::replaces(const Type &t) const {
  return t.bits() == 16 && (t.is_bfloat() || (lacks_f16_ && t.is_float()));
}

Expr sixteen_bits::mutate(const Expr &e) {
  if (e.defined() && replaces(computed_with(e)))
    throw std::logic_error("arithmetic on 16-bit numbers, which devices compute in f32");
  return IRMutator::mutate(e);
}

Expr sixteen_bits::visit(const hi::FloatImm *op) {
  if (!replaces(op->type)) return op;
  const std::uint16_t bits = op->type.is_bfloat() ? Halide::bfloat16_t(op->value).to_bits()
                                                  : Halide::float16_t(op->value).to_bits();
  return hi::UIntImm::make(Halide::UInt(16), bits);
}

Expr sixteen_bits::visit(const hi::Variable *op) {
  if (!replaces(op->type)) return op;
  return hi::Variable::make(integers(op->type), op->name, op->image, op->param,
                            op->reduction_domain);
}

Expr sixteen_bits::visit(const hi::Load *op) {
  if (!replaces(op->type)) return IRMutator::visit(op);
  return hi::Load::make(integers(op->type), op->name, mutate(op->index), op->image, op->param,
                        mutate(op->predicate), op->alignment);
}

Expr sixteen_bits::visit(const hi::Cast *op) {
  const Type f32 = Halide::Float(32, op->type.lanes());
  const auto converted = [](Type to, const Expr &from) {
    const Expr conversion = hi::Cast::make(to, from);
    return hi::lower_float16_cast(conversion.as<hi::Cast>());
  };
  if (replaces(op->value.type())) {
    const Expr number = mutate(converted(f32, op->value));
    return op->type == f32 ? number : mutate(hi::Cast::make(op->type, number));
  }
  if (!replaces(op->type)) return IRMutator::visit(op);
  const Expr number = mutate(Halide::cast(f32, op->value));
  const Expr rounded = mutate(converted(op->type, number));
  // Halide's conversion to f16 makes an infinity of a NaN whose upper bits are 0. Conversions to
  // bf16 are integer arithmetic already (strict::cast).
  const Expr bits = Halide::reinterpret(Halide::UInt(32, number.type().lanes()), number);
  return Halide::select((bits & 0x7fffffff) <= 0x7f800000, rounded,
                        hi::Cast::make(integers(op->type), (bits >> 16) | 0x7fff));
}

Expr sixteen_bits::visit(const hi::Reinterpret *op) {
  const Expr value = mutate(op->value);
  const Type to = replaces(op->type) ? integers(op->type) : op->type;
  return to == value.type() ? value : hi::Reinterpret::make(to, value);
}

Expr sixteen_bits::visit(const hi::Call *op) {
  const bool concerns =
      replaces(op->type) || std::any_of(op->args.begin(), op->args.end(),
                                        [&](const Expr &a) { return replaces(a.type()); });
  if (!concerns) return IRMutator::visit(op);
  if (!op->is_intrinsic(hi::Call::if_then_else) && !op->is_intrinsic(hi::Call::likely) &&
      !op->is_intrinsic(hi::Call::likely_if_innermost))
    throw std::logic_error(op->name + " of 16-bit numbers, which devices compute in f32");
  std::vector<Expr> arguments;
  for (const Expr &a : op->args) arguments.push_back(mutate(a));
  return hi::Call::make(integers(op->type), op->name, arguments, op->call_type);
}

hi::Stmt sixteen_bits::visit(const hi::Allocate *op) {
  const hi::Stmt s = IRMutator::visit(op);
  const auto *a = s.as<hi::Allocate>();
  if (!a || !replaces(a->type)) return s;
  return hi::Allocate::make(a->name, integers(a->type), a->memory_type, a->extents, a->condition,
                            a->body, a->new_expr, a->free_function, a->padding);
}

}  // namespace qkv::codegen
