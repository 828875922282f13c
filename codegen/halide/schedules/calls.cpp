// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/calls.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;

bool calls(const Halide::Func &user, const Halide::Func &used) {
  struct finder : hi::IRVisitor {
    using IRVisitor::visit;
    std::string name;
    bool found = false;
    void visit(const hi::Call *op) override {
      found = found || op->name == name;
      IRVisitor::visit(op);
    }
  } f;
  f.name = used.name();
  user.function().accept(&f);
  return f.found;
}

}  // namespace qkv::codegen
