#include "codegen/lower/unsolved.hpp"

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

// Makes the positions in a condition opaque, except those at which memory is read: bounds inference
// needs these.
class with_opaque_positions : public hi::IRGraphMutator {
  using IRGraphMutator::visit;
  Expr visit(const hi::Variable *op) override {
    const bool position = op->type == Halide::Int(32) && !op->param.defined();
    return position ? opaque(op) : Expr(op);
  }
  Expr visit(const hi::Call *op) override {
    const bool read = op->call_type == hi::Call::Halide || op->call_type == hi::Call::Image;
    return read ? Expr(op) : IRGraphMutator::visit(op);
  }
};

class with_opaque_choices : public hi::IRGraphMutator {
  using IRGraphMutator::visit;
  Expr visit(const hi::Select *op) override {
    const Expr yes = mutate(op->true_value), no = mutate(op->false_value);
    const Expr condition = mutate(op->condition);
    if (!reads(yes, false) && !reads(no, false)) return hi::Select::make(condition, yes, no);
    return hi::Select::make(with_opaque_positions().mutate(condition), yes, no);
  }
};

}  // namespace

bool reads_memory(const Expr &e) { return reads(e, true); }

Expr opaque(const Expr &position) { return (position ^ 1) ^ 1; }

Expr with_terms_together(const Expr &e) {
  struct finder : hi::IRGraphVisitor {
    using IRGraphVisitor::visit;
    bool found = false;
    void visit(const hi::Add *) override { found = true; }
    void visit(const hi::Sub *) override { found = true; }
    void visit(const hi::Mul *) override { found = true; }
    void visit(const hi::Div *) override { found = true; }
    void visit(const hi::Mod *) override { found = true; }
    void visit(const hi::Cast *) override {}  // nothing moves out of these two
    void visit(const hi::Call *) override {}
  } f;
  e.accept(&f);
  return f.found ? opaque(e) : e;
}

Expr unsolved(const Expr &e) { return with_opaque_choices().mutate(e); }

}  // namespace qkv::codegen
