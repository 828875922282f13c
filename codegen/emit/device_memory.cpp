// SPDX-License-Identifier: BSL-1.0
#include "codegen/emit/device_memory.hpp"

#include <map>
#include <string>

#include "codegen/emit/modules.hpp"

namespace qkv::codegen {
namespace {

namespace hi = Halide::Internal;
using Halide::Expr;

const std::map<std::string, std::string> counted = {
    {"halide_device_malloc", "qkv_device_malloc"},
    {"halide_device_free", "qkv_device_free"},
    {"halide_device_free_as_destructor", "qkv_device_free_as_destructor"}};

// Renames calls, and destructors, which are registered by name. Halide passes the user context to
// functions of its own by itself.
class calls_of_ours : public hi::IRMutator {
  using IRMutator::visit;

  Expr visit(const hi::Call *op) override {
    const auto it = counted.find(op->name);
    if (it == counted.end()) return IRMutator::visit(op);
    std::vector<Expr> args = {hi::Variable::make(Halide::type_of<void *>(), "__user_context")};
    args.insert(args.end(), op->args.begin(), op->args.end());
    return hi::Call::make(op->type, it->second, args, op->call_type);
  }
  Expr visit(const hi::StringImm *op) override {
    const auto it = counted.find(op->value);
    return it == counted.end() ? Expr(op) : hi::StringImm::make(it->second);
  }
};

}  // namespace

Halide::Module with_counted_device_memory(const Halide::Module &m) {
  if (!m.target().has_gpu_feature()) return m;
  calls_of_ours code;
  return rewritten(m, code);
}

}  // namespace qkv::codegen
