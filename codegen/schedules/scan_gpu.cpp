// Scans on GPUs: a thread per column of the table.
#include "codegen/schedules/gpu.hpp"
#include "codegen/schedules/schedules.hpp"

namespace qkv::codegen {

using Halide::TailStrategy;
using Halide::Var;

void schedule_scan_gpu(scan_funcs &f) {
  constexpr int columns = 32;  // of a block
  gpu::pointwise(f.table);
  auto update = f.table.update();
  std::vector<Halide::VarOrRVar> order = {f.steps.x, f.steps.y, f.steps.z};
  if (!f.has_lane) {
    update.unroll(f.steps.y).gpu_single_thread();
  } else {
    Var block("block"), thread("thread");
    update.split(f.lane, block, thread, columns, TailStrategy::GuardWithIf);
    order.emplace_back(thread);
    order.emplace_back(block);
    for (const Var &v : f.around) order.emplace_back(v);
    update.reorder(order).unroll(f.steps.y).gpu_threads(thread).gpu_blocks(block);
    for (std::size_t k = 0; k < f.around.size() && k < 2; ++k) update.gpu_blocks(f.around[k]);
  }
  for (scan_funcs::output &o : f.outputs) gpu::pointwise(o.out);
}

}  // namespace qkv::codegen
