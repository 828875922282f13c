// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/expression_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <stdexcept>

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;
using hi::Call;

bool is_half(const Halide::Type &t) { return t.bits() == 16 && (t.is_float() || t.is_bfloat()); }

std::string literal(double x) {
  if (std::isnan(x)) return "not_a_number()";
  if (std::isinf(x)) return x < 0 ? "-infinity()" : "infinity()";
  return fmt::format("{:a}f", x);
}

std::string bits_of_half(const Halide::Type &t, double x) {
  const unsigned bits =
      t.is_bfloat() ? Halide::bfloat16_t(x).to_bits() : Halide::float16_t(x).to_bits();
  return fmt::format("static_cast<unsigned short>({}u)", bits);
}

// Infix operators of intrinsics whose operands may be anything.
const std::map<Call::IntrinsicOp, const char *> infixes = {
    {Call::bitwise_and, "&"}, {Call::bitwise_or, "|"}, {Call::bitwise_xor, "^"},
    {Call::strict_lt, "<"},   {Call::strict_le, "<="}, {Call::strict_eq, "=="}};

// Functions that cuda/skeletons/common.cuh and plain/functions.inc define; each rounds once.
const std::map<Call::IntrinsicOp, const char *> functions = {
    {Call::strict_add, "strict_add"}, {Call::strict_sub, "strict_sub"},
    {Call::strict_mul, "strict_mul"}, {Call::strict_div, "strict_div"},
    {Call::strict_min, "strict_min"}, {Call::strict_max, "strict_max"},
    {Call::abs, "magnitude"}};

class writer : public hi::IRVisitor {
 public:
  writer(const variable_text &variable, const element_text &element)
      : variable_(variable), element_(element) {}

  std::string run(const Expr &e) {
    const std::string result = text(e);
    return lines_ + fmt::format("    return {};\n", result);
  }

 private:
  using IRVisitor::visit;

  // A literal, a variable, or the name of a line.
  std::string text(const Expr &e) {
    if (const auto it = seen_.find(e.get()); it != seen_.end()) return it->second;
    result_.clear();
    e.accept(this);
    if (result_.empty()) throw no_text(fmt::format("C++ has no text for {}", of(e)));
    return seen_[e.get()] = result_;
  }

  static std::string of(const Expr &e) {
    if (const Call *c = e.as<Call>()) return c->name;
    return fmt::format("an operation of Halide's kind {}", static_cast<int>(e.node_type()));
  }

  void line(const Halide::Type &t, const std::string &value) {
    const std::string name = fmt::format("t{}", count_++);
    lines_ += fmt::format("    const {} {} = {};\n", c_type(t), name, value);
    result_ = name;
  }

  template <class Operation>
  void infix(const Operation *op, const char *sign) {
    const std::string a = text(op->a), b = text(op->b);
    line(op->type, fmt::format("{} {} {}", a, sign, b));
  }
  template <class Operation>
  void function(const Operation *op, const char *name) {
    const std::string a = text(op->a), b = text(op->b);
    line(op->type, fmt::format("{}({}, {})", name, a, b));
  }

  void visit(const hi::IntImm *op) override {
    result_ = op->type.bits() == 64 ? fmt::format("{}ll", op->value) : std::to_string(op->value);
    if (op->value == INT32_MIN) result_ = "(-2147483647 - 1)";
  }
  void visit(const hi::UIntImm *op) override {
    result_ = op->type.is_bool() ? (op->value ? "true" : "false") : fmt::format("{}u", op->value);
  }
  void visit(const hi::FloatImm *op) override {
    result_ = is_half(op->type) ? bits_of_half(op->type, op->value) : literal(op->value);
  }
  void visit(const hi::Variable *op) override { result_ = variable_(*op); }
  void visit(const hi::Cast *op) override {
    const std::string x = text(op->value);
    const Halide::Type from = op->value.type();
    if (is_half(from) && is_half(op->type) && from == op->type)
      result_ = x;
    else if (is_half(from))
      line(op->type,
           fmt::format("{}({})", from.is_bfloat() ? "number_of_bf16" : "number_of_f16", x));
    else if (is_half(op->type))
      line(op->type, fmt::format("{}({})", op->type.is_bfloat() ? "bf16_of" : "f16_of", x));
    else
      line(op->type, fmt::format("static_cast<{}>({})", c_type(op->type), x));
  }
  void visit(const hi::Reinterpret *op) override {
    const std::string x = text(op->value);
    const bool same_bits =
        op->type.bits() == 16 || op->type.is_float() == op->value.type().is_float();
    if (same_bits)
      line(op->type, fmt::format("static_cast<{}>({})", c_type(op->type), x));
    else
      line(op->type,
           fmt::format("{}({})", op->type.is_float() ? "float_of_bits" : "bits_of_float", x));
  }
  void visit(const hi::Add *op) override { infix(op, "+"); }
  void visit(const hi::Sub *op) override { infix(op, "-"); }
  void visit(const hi::Mul *op) override { infix(op, "*"); }
  void visit(const hi::Div *op) override {
    op->type.is_float() ? infix(op, "/") : function(op, "quotient");
  }
  void visit(const hi::Mod *op) override { function(op, "remainder_of"); }
  void visit(const hi::Min *op) override { function(op, "least"); }
  void visit(const hi::Max *op) override { function(op, "largest"); }
  void visit(const hi::EQ *op) override { infix(op, "=="); }
  void visit(const hi::NE *op) override { infix(op, "!="); }
  void visit(const hi::LT *op) override { infix(op, "<"); }
  void visit(const hi::LE *op) override { infix(op, "<="); }
  void visit(const hi::GT *op) override { infix(op, ">"); }
  void visit(const hi::GE *op) override { infix(op, ">="); }
  void visit(const hi::And *op) override { infix(op, "&"); }
  void visit(const hi::Or *op) override { infix(op, "|"); }
  void visit(const hi::Not *op) override {
    const std::string x = text(op->a);
    line(op->type, "!" + x);
  }
  void visit(const hi::Select *op) override {
    choice(op->type, op->condition, op->true_value, op->false_value);
  }
  void choice(const Halide::Type &t, const Expr &condition, const Expr &a, const Expr &b) {
    const std::string c = text(condition), x = text(a), y = text(b);
    line(t, fmt::format("{} ? {} : {}", c, x, y));
  }

  void visit(const Call *op) override {
    if (op->is_intrinsic(Call::return_second)) {  // the first is for the order of Halide's stages
      result_ = text(op->args[1]);
      return;
    }
    std::vector<std::string> args;
    for (const Expr &e : op->args) args.push_back(text(e));
    if (op->call_type == Call::Image || op->call_type == Call::Halide) {
      line(op->type, element_(*op, args));
      return;
    }
    for (const auto &[kind, sign] : infixes)
      if (op->is_intrinsic(kind))
        return line(op->type, fmt::format("{} {} {}", args[0], sign, args[1]));
    for (const auto &[kind, name] : functions)
      if (op->is_intrinsic(kind))
        return line(op->type, fmt::format("{}({})", name, fmt::join(args, ", ")));
    if (op->is_intrinsic(Call::bitwise_not)) return line(op->type, "~" + args[0]);
    if (op->is_intrinsic(Call::shift_left) || op->is_intrinsic(Call::shift_right))
      return line(op->type, fmt::format("{} {} {}", args[0],
                                        op->is_intrinsic(Call::shift_left) ? "<<" : ">>", args[1]));
    if (op->is_intrinsic(Call::if_then_else))
      return line(op->type, fmt::format("{} ? {} : {}", args[0], args[1], args[2]));
    if (op->is_intrinsic(Call::likely) || op->is_intrinsic(Call::likely_if_innermost) ||
        op->is_intrinsic(Call::promise_clamped) || op->is_intrinsic(Call::unsafe_promise_clamped)) {
      result_ = args[0];
      return;
    }
    const std::map<std::string, const char *> named = {
        {"sqrt_f32", "square_root"},     {"floor_f32", "floor_of"},  {"ceil_f32", "ceiling_of"},
        {"round_f32", "nearest_of"},     {"trunc_f32", "truncated"}, {"abs_f32", "magnitude"},
        {"power_of_two", "power_of_two"}};
    const auto it = named.find(op->name);
    if (it == named.end()) refuse(op);
    line(op->type, fmt::format("{}({})", it->second, fmt::join(args, ", ")));
  }

  // No scalar formula has these.
  void visit(const hi::Let *op) override { refuse(op); }
  void visit(const hi::Load *op) override { refuse(op); }
  void visit(const hi::Ramp *op) override { refuse(op); }
  void visit(const hi::Broadcast *op) override { refuse(op); }
  void visit(const hi::Shuffle *op) override { refuse(op); }
  void visit(const hi::VectorReduce *op) override { refuse(op); }
  void visit(const hi::StringImm *op) override { refuse(op); }

  [[noreturn]] static void refuse(const Expr &e) {
    throw no_text(fmt::format("C++ has no text for {}", of(e)));
  }

  const variable_text &variable_;
  const element_text &element_;
  std::map<const hi::IRNode *, std::string> seen_;
  std::string lines_, result_;
  int count_ = 0;
};

}  // namespace

std::string c_type(const Halide::Type &t) {
  if (t.is_bool()) return "bool";
  if (is_half(t)) return "unsigned short";
  if (t.is_float() && t.bits() == 32) return "float";
  const std::map<int, std::pair<const char *, const char *>> integers = {
      {8, {"signed char", "unsigned char"}},
      {16, {"short", "unsigned short"}},
      {32, {"int", "unsigned"}},
      {64, {"long long", "unsigned long long"}}};
  if (t.is_int() || t.is_uint())
    if (const auto it = integers.find(t.bits()); it != integers.end())
      return t.is_int() ? it->second.first : it->second.second;
  throw no_text("printed code has no numbers of another type");
}

std::string function_body(const Expr &e, const variable_text &variable,
                          const element_text &element) {
  return writer(variable, element).run(e);
}

}  // namespace qkv::codegen
