// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/prefetch.hpp"

#include "codegen/halide/lower/attention_funcs.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;
using Halide::Expr;

// The call needs LLVM's declaration, which Halide's runtime contains.
hi::Stmt prefetch(const std::string &argument, Halide::Type type, const Expr &at) {
  constexpr int for_reading = 0, in_all_caches = 3, of_data = 1;
  const Expr begin = hi::Variable::make(Halide::Handle(), argument);
  const Expr bytes = Halide::cast<int64_t>(at) * type.element_of().bytes();
  const Expr address = hi::Reinterpret::make(Halide::Handle(),
                                             hi::Reinterpret::make(Halide::Int(64), begin) + bytes);
  return hi::Evaluate::make(hi::Call::make(Halide::Int(32), "llvm.prefetch.p0",
                                           {address, for_reading, in_all_caches, of_data},
                                           hi::Call::Extern));
}

bool is_computed_at_once(const Expr &address) {
  class finder : public hi::IRGraphVisitor {
    using IRGraphVisitor::visit;
    void visit(const hi::Load *) override { found = true; }
    void visit(const hi::Call *) override { found = true; }
    void visit(const hi::Div *op) override { divided(op->a, op->b); }
    void visit(const hi::Mod *op) override { divided(op->a, op->b); }
    void divided(const Expr &a, const Expr &b) {
      found |= !hi::is_const(b);
      a.accept(this);
    }

   public:
    bool found = false;
  } slow;
  address.accept(&slow);
  return !slow.found;
}

Expr lets_reader::outside(Expr e) const {
  for (auto let = lets_.rbegin(); let != lets_.rend(); ++let)
    e = hi::substitute(let->first, let->second, e);
  return e;
}

Expr large_arguments::is_large(const std::string &argument, Halide::Type type, int axes) {
  const Expr buffer =
      hi::Variable::make(Halide::type_of<halide_buffer_t *>(), argument + ".buffer");
  Expr bytes = Halide::cast<std::int64_t>(type.element_of().bytes());
  for (int d = 0; d < axes; ++d)
    bytes *= Halide::cast<std::int64_t>(hi::Call::make(Halide::Int(32), hi::Call::buffer_get_extent,
                                                       {buffer, d}, hi::Call::Extern));
  const std::string name = argument + ".is_large";
  conditions_[name] = bytes >= hi::make_const(Halide::Int(64), least_bytes_);
  return hi::Variable::make(Halide::Bool(), name);
}

hi::Stmt large_arguments::around(hi::Stmt s) {
  for (const auto &[name, condition] : conditions_) s = hi::LetStmt::make(name, condition, s);
  conditions_.clear();
  return s;
}

bool is_left_alone(const hi::For &loop) {
  return loop.name.find(no_prefetch_name) != std::string::npos;
}

}  // namespace qkv::codegen
