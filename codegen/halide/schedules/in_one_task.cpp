// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/in_one_task.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;

hi::Stmt in_one_task::visit(const hi::For *op) {
  const hi::Stmt body = mutate(op->body);
  const hi::ForType how =
      op->for_type == hi::ForType::Parallel ? hi::ForType::Serial : op->for_type;
  return hi::For::make(op->name, op->min, op->extent, how, op->partition_policy, op->device_api,
                       body);
}

}  // namespace qkv::codegen
