// SPDX-License-Identifier: BSL-1.0
// Scans on GPUs: a thread per column of the table.
#include "codegen/halide/schedules/gpu.hpp"
#include "codegen/halide/schedules/schedules.hpp"

namespace qkv::codegen {

using Halide::Var;

void schedule_scan_gpu(scan_funcs &f) {
  gpu::pointwise(f.table);
  std::vector<Var> columns;
  if (f.has_lane) columns.push_back(f.lane);
  columns.insert(columns.end(), f.around.begin(), f.around.end());
  auto update = f.table.update();
  update.unroll(f.steps.y);
  gpu::columns_apart(update, {f.steps.x, f.steps.y, f.steps.z}, columns);
  for (scan_funcs::output &o : f.outputs) gpu::pointwise(o.out);
}

}  // namespace qkv::codegen
