// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/unsolved.hpp"

#include <algorithm>
#include <functional>
#include <qkv/core/axis.hpp>

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

// True if the value is computed from a Func or, if requested, from an image.
bool reads(const Expr &e, bool images) {
  struct finder : hi::IRGraphVisitor {
    using IRGraphVisitor::visit;
    bool images, found = false;
    void visit(const hi::Call *op) override {
      found = found || op->call_type == hi::Call::Halide ||
              (images && op->call_type == hi::Call::Image);
      IRGraphVisitor::visit(op);
    }
  } f;
  f.images = images;
  e.accept(&f);
  return f.found;
}

using is_position = std::function<bool(const hi::Variable *)>;

// Makes the positions in a condition opaque, except those at which memory is read: bounds inference
// needs these.
class with_opaque_positions : public hi::IRGraphMutator {
  using IRGraphMutator::visit;
  Expr visit(const hi::Variable *op) override { return hidden_(op) ? opaque(op) : Expr(op); }
  Expr visit(const hi::Call *op) override {
    const bool read = op->call_type == hi::Call::Halide || op->call_type == hi::Call::Image;
    return read ? Expr(op) : IRGraphMutator::visit(op);
  }
  const is_position hidden_;

 public:
  explicit with_opaque_positions(is_position hidden) : hidden_(std::move(hidden)) {}
};

class with_opaque_choices : public hi::IRGraphMutator {
  using IRGraphMutator::visit;
  Expr visit(const hi::Select *op) override {
    const Expr yes = mutate(op->true_value), no = mutate(op->false_value);
    const Expr condition = mutate(op->condition);
    if (!reads(yes, false) && !reads(no, false)) return hi::Select::make(condition, yes, no);
    return hi::Select::make(with_opaque_positions(hidden_).mutate(condition), yes, no);
  }
  const is_position hidden_;

 public:
  explicit with_opaque_choices(is_position hidden) : hidden_(std::move(hidden)) {}
};

}  // namespace

bool reads_memory(const Expr &e) { return reads(e, true); }

Expr opaque(const Expr &position) { return (position ^ 1) ^ 1; }

void guard_comparison(Expr &a, Expr &b) {
  const auto is_leaf = [](const Expr &e) {
    return e.as<hi::Variable>() || e.as<hi::IntImm>() || e.as<hi::Call>() || e.as<hi::Cast>();
  };
  if (!is_leaf(a)) a = opaque(a);
  if (!is_leaf(b)) b = opaque(b);
  const auto beside_a_position = [](const Expr &e) {
    return Halide::clamp(e, -1, static_cast<int>(core::longest_axis + 1));
  };
  if (a.as<hi::Variable>())
    b = beside_a_position(b);
  else if (b.as<hi::Variable>())
    a = beside_a_position(a);
}

Expr unsolved(const Expr &e) {
  const auto every = [](const hi::Variable *v) {
    return v->type == Halide::Int(32) && !v->param.defined();
  };
  return with_opaque_choices(every).mutate(e);
}

Expr unsolved(const Expr &e, const std::vector<Halide::Var> &positions) {
  const auto one_of = [&](const hi::Variable *v) {
    return std::any_of(positions.begin(), positions.end(),
                       [&](const Halide::Var &p) { return p.name() == v->name; });
  };
  return with_opaque_choices(one_of).mutate(e);
}

Expr unsolved(const Expr &e, const std::map<axis_id, Expr> &positions) {
  const auto one_of = [&](const hi::Variable *v) {
    return std::any_of(positions.begin(), positions.end(),
                       [&](const auto &p) { return hi::equal(p.second, Expr(v)); });
  };
  return with_opaque_choices(one_of).mutate(e);
}

}  // namespace qkv::codegen
