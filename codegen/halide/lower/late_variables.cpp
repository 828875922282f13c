// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/late_variables.hpp"

#include <set>

#include "codegen/halide/lower/error_of.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;
using Halide::Internal::Stmt;

namespace {

const Halide::Parameter &parameter_of(const Expr &variable) {
  return variable.as<hi::Variable>()->param;
}

class bound_variables : public hi::IRMutator {
 public:
  bound_variables(std::string carrier, const std::vector<std::pair<std::string, Expr>> &values)
      : carrier_(std::move(carrier)), values_(values) {}

  Stmt mutate(const Stmt &kernel) override {
    if (!bound_.empty() || values_.empty()) return IRMutator::mutate(kernel);
    for (const auto &[name, value] : values_) bound_.insert(name);
    Stmt s = IRMutator::mutate(kernel);
    bound_.clear();
    for (std::size_t k = values_.size(); k-- > 0;)
      s = hi::LetStmt::make(values_[k].first, values_[k].second, s);
    return s;
  }
  using IRMutator::mutate;

 private:
  using IRMutator::visit;

  bool is_late(const hi::Variable *v) const {
    return v->param.defined() && v->param.name() == carrier_ && v->name != carrier_;
  }

  // True if the value depends on the position of a loop that it does not lie in.
  bool is_outside(const Expr &value) const {
    class : public hi::IRGraphVisitor {
     public:
      const bound_variables *own;
      bool found = false;

     private:
      using IRGraphVisitor::visit;
      void visit(const hi::Variable *v) override {
        found = found || own->outside_.contains(v->name) ||
                (own->is_late(v) && !own->bound_.contains(v->name));
      }
    } variables;
    variables.own = this;
    value.accept(&variables);
    return variables.found;
  }

  Expr visit(const hi::Variable *op) override {
    return is_late(op) ? hi::Variable::make(op->type, op->name) : Expr(op);
  }

  Stmt visit(const hi::For *op) override {
    const bool is_first = bound_.insert(op->name).second;
    const Stmt s = IRMutator::visit(op);
    if (is_first) bound_.erase(op->name);
    return s;
  }

  // Only checks of bounds read such a definition.
  Stmt visit(const hi::LetStmt *op) override {
    if (is_outside(op->value)) {
      outside_.insert(op->name);
      return mutate(op->body);
    }
    const bool is_first = bound_.insert(op->name).second;
    const Stmt s = IRMutator::visit(op);
    if (is_first) bound_.erase(op->name);
    return s;
  }

  // A Func that is read in the loops has the bounds that it was given.
  Stmt visit(const hi::AssertStmt *op) override {
    const hi::Call *error = error_of(*op);
    const bool is_of_bounds = error && error->name == "halide_error_explicit_bounds_too_small";
    return is_of_bounds && is_outside(op->condition) ? hi::Evaluate::make(0) : IRMutator::visit(op);
  }

  const std::string carrier_;
  const std::vector<std::pair<std::string, Expr>> values_;
  std::set<std::string> bound_, outside_;
};

}  // namespace

// A variable in a definition is an argument, a reduction variable, or belongs to a parameter of the
// call. This one has another name than its parameter, which Halide does not compare.
Expr late_variables::variable(const Halide::Type &type, const std::string &name) const {
  return hi::Variable::make(type, name, parameter_of(carrier_));
}

// The name of a loop in Halide: FUNC.sDEFINITION.VARIABLE.
Expr late_variables::loop(const std::string &around, int definition, const std::string &v) const {
  return variable(Halide::Int(32), around + ".s" + std::to_string(definition) + "." + v);
}

Expr late_variables::of_call(const std::string &name, const Expr &value) {
  values_.emplace_back(hi::unique_name(name), value);
  return variable(value.type(), values_.back().first);
}

void late_variables::add_to(Halide::Pipeline &p) const {
  p.add_custom_lowering_pass(new bound_variables(parameter_of(carrier_).name(), values_));
}

}  // namespace qkv::codegen
