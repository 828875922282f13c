// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/late_variables.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using Halide::Internal::Stmt;

namespace {

// Of passes, the first: there are loops, and these variables no longer belong to a parameter.
class bound_variables : public hi::IRMutator {
 public:
  bound_variables(std::string parameter, std::vector<std::pair<std::string, Expr>> values,
                  std::set<std::string> whole)
      : parameter_(std::move(parameter)), values_(std::move(values)), whole_(std::move(whole)) {}

  Stmt mutate(const Stmt &kernel) override {
    if (is_inside_) return IRMutator::mutate(kernel);
    is_inside_ = true;
    Stmt s = IRMutator::mutate(kernel);
    is_inside_ = false;
    for (std::size_t k = values_.size(); k-- > 0;)
      s = hi::LetStmt::make(values_[k].first, values_[k].second, s);
    return s;
  }
  using IRMutator::mutate;

 private:
  using IRMutator::visit;

  Expr visit(const hi::Variable *op) override {
    used_.insert(op->name);
    const bool is_late =
        op->param.defined() && op->param.name() == parameter_ && op->name != parameter_;
    return is_late ? hi::Variable::make(op->type, op->name) : Expr(op);
  }

  // Only such a check reads what Halide has inferred of these Funcs outside the loops.
  Stmt visit(const hi::AssertStmt *op) override {
    Expr message = op->message;
    while (const auto *let = message.as<hi::Let>()) message = let->body;
    const auto *error = message.as<hi::Call>();
    if (!error || error->name != "halide_error_explicit_bounds_too_small")
      return IRMutator::visit(op);
    const auto *func = error->args[1].as<hi::StringImm>();
    return func && whole_.contains(func->value) ? hi::Evaluate::make(0) : IRMutator::visit(op);
  }

  // Without the definitions that the check alone has used: names differ by now.
  Stmt visit(const hi::LetStmt *op) override {
    const Stmt body = mutate(op->body);
    if (!used_.contains(op->name)) return body;
    return hi::LetStmt::make(op->name, mutate(op->value), body);
  }

  const std::string parameter_;
  const std::vector<std::pair<std::string, Expr>> values_;
  const std::set<std::string> whole_;
  std::set<std::string> used_;
  bool is_inside_ = false;
};

const Halide::Parameter &parameter_of(const Expr &variable) {
  return variable.as<hi::Variable>()->param;
}

}  // namespace

// A variable in a definition is an argument, a reduction variable, or belongs to a parameter of the
// call. This one has another name than its parameter, of which Halide takes no notice.
Expr late_variables::variable(const Halide::Type &type, const std::string &name) const {
  return hi::Variable::make(type, name, parameter_of(of_call_));
}

// Halide calls the variables of loops so.
Expr late_variables::loop(const std::string &around, int definition, const std::string &v) const {
  return variable(Halide::Int(32), around + ".s" + std::to_string(definition) + "." + v);
}

void late_variables::is_whole(Halide::Func f,
                              const std::vector<std::pair<Halide::Var, Expr>> &extents) {
  if (!whole_.insert(f.name()).second) return;
  for (const auto &[v, extent] : extents) f.bound(v, 0, extent);
}

Expr late_variables::of_call(const std::string &name, const Expr &value) {
  values_.emplace_back(hi::unique_name(name), value);
  return variable(value.type(), values_.back().first);
}

void late_variables::add_to(Halide::Pipeline &p) const {
  p.add_custom_lowering_pass(new bound_variables(parameter_of(of_call_).name(), values_, whole_));
}

}  // namespace qkv::codegen
