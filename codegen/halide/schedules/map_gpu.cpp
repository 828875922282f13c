// SPDX-License-Identifier: BSL-1.0
// Maps on GPUs: a thread per element; a reduction by one thread per position, its 16 partial
// results in registers. Reductions that schedule_rows_gpu takes are in rows_gpu.cpp.
#include "codegen/halide/schedules/gpu.hpp"
#include "codegen/halide/schedules/schedules.hpp"

namespace qkv::codegen {

using Halide::MemoryType;
using Halide::RVar;
using Halide::Var;

namespace {

// A thread per row of the axis along which sums are added in place.
void schedule_in_place(map_funcs &f) {
  gpu::pointwise(f.in_place);
  std::vector<Var> others;
  for (const Var &v : f.position)
    if (v.name() != f.along.name()) others.push_back(v);
  gpu::columns_apart(f.in_place.update(), f.steps, others);
}

}  // namespace

void schedule_map_gpu(map_funcs &f) {
  for (map_funcs::reduction &r : f.reductions) {
    r.result.compute_root();
    std::vector<Halide::VarOrRVar> order(r.over.begin(), r.over.end());
    if (r.position.empty()) {  // one number of all: the partial results by 16 threads
      order.emplace_back(f.lane);
      r.partial.update().reorder(order);
      Var block("block"), thread("thread");
      r.result.gpu_single_thread();
      r.partial.compute_root()
          .bound(f.lane, 0, reduction_lanes)
          .gpu_tile(f.lane, block, thread, reduction_lanes);
      r.partial.update().gpu_tile(f.lane, block, thread, reduction_lanes);
      continue;
    }
    order.insert(order.begin(), f.lane);
    r.partial.update().reorder(order);
    gpu::grid(r.result, r.position);
    r.partial.compute_at(r.result, r.position[0])
        .store_in(MemoryType::Register)
        .bound(f.lane, 0, reduction_lanes)
        .unroll(f.lane);
    r.partial.update().unroll(f.lane);
    for (const Var &v : r.position) r.partial.bound_extent(v, 1);
  }
  if (f.in_place.defined()) schedule_in_place(f);
  gpu::pointwise(f.out);
}

}  // namespace qkv::codegen
