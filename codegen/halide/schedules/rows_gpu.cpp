// SPDX-License-Identifier: BSL-1.0
// Reductions of rows on GPUs, and what reads them: one launch. Where elements of a row are
// neighbours in memory, a block has the machine's `map_rows`; 16 threads take the elements of each
// in turn. Where rows are neighbours, a thread has a row.
#include <algorithm>
#include <utility>

#include "codegen/halide/schedules/gpu.hpp"
#include "codegen/halide/schedules/schedules.hpp"
#include "codegen/halide/schedules/tasks.hpp"

namespace qkv::codegen {
namespace {

using Halide::Func;
using Halide::MemoryType;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

bool same_names(const std::vector<Var> &a, const std::vector<Var> &b) {
  return a.size() == b.size() &&
         std::all_of(a.begin(), a.end(), [&](const Var &v) { return has_name(b, v); });
}

// The rows of all reductions, innermost first; none if they differ.
std::vector<Var> rows_of(const std::vector<map_funcs> &launch) {
  std::vector<Var> rows;
  for (const map_funcs &f : launch) {
    if (f.in_place.defined()) return {};
    for (const map_funcs::reduction &r : f.reductions) {
      if (rows.empty()) rows = r.position;
      if (!same_names(r.position, rows)) return {};
    }
  }
  return rows;
}

// True if a reduction of these reads neighbouring rows from neighbouring memory.
bool are_rows_neighbours(const std::vector<map_funcs> &launch) {
  return std::any_of(launch.begin(), launch.end(), [](const map_funcs &f) {
    return std::any_of(f.reductions.begin(), f.reductions.end(),
                       [](const map_funcs::reduction &r) { return r.over_rows; });
  });
}

// A thread has a row: all that comes before its result is in registers.
void thread_has_row(std::vector<map_funcs> &launch) {
  Func &out = launch.back().out;
  gpu::pointwise(out);
  const auto place = [&](Func &g) {
    g.compute_at(out, out.args()[0]).store_in(MemoryType::Register);
    for (const Var &v : launch.back().position) g.bound_extent(v, 1);
  };
  for (map_funcs &f : launch) {
    for (map_funcs::reduction &r : f.reductions) {
      place(r.partial);
      std::vector<VarOrRVar> order = {f.lane};
      order.insert(order.end(), r.over.begin(), r.over.end());
      r.partial.bound(f.lane, 0, reduction_lanes)
          .unroll(f.lane)
          .update()
          .reorder(order)
          .unroll(f.lane);
      place(r.result);
    }
    if (&f != &launch.back()) place(f.out);
  }
}

class rows_scheduler {
 public:
  rows_scheduler(std::vector<map_funcs> &launch, std::vector<Var> rows, int rows_of_block)
      : launch_(launch),
        rows_(std::move(rows)),
        rows_of_block_(rows_of_block),
        out_(launch.back().out),
        block_(out_, rb_) {}

  void run() {
    result();
    for (map_funcs &f : launch_) {
      for (map_funcs::reduction &r : f.reductions) reduction(f, r);
      if (&f != &launch_.back()) of_row(f.out);
    }
  }

 private:
  void result() {
    std::vector<Var> columns;
    for (const Var &v : launch_.back().position)
      if (!has_name(rows_, v)) columns.push_back(v);
    const Var thread("thread"), rest("rest"), row("row");
    out_.compute_root().split(rows_[0], rb_, row, rows_of_block_, TailStrategy::GuardWithIf);
    std::vector<VarOrRVar> order;
    if (!columns.empty()) {
      out_.split(columns[0], rest, thread, reduction_lanes, TailStrategy::GuardWithIf);
      order.emplace_back(rest);
      order.insert(order.end(), columns.begin() + 1, columns.end());
      order.emplace_back(thread);
    }
    std::vector<Var> grid = {rb_};
    grid.insert(grid.end(), rows_.begin() + 1, rows_.end());
    order.emplace_back(row);
    order.insert(order.end(), grid.begin(), grid.end());
    out_.reorder(order);
    columns.empty() ? out_.gpu_threads(row) : out_.gpu_threads(thread, row);
    gpu::grid(out_, grid);
  }

  // Partial results in registers, then side by side in shared memory.
  void reduction(map_funcs &f, map_funcs::reduction &r) {
    Func shared = r.partial.in(r.result);
    shared.compute_at(block_).bound(f.lane, 0, reduction_lanes);
    shared.reorder(f.lane, rows_[0]).gpu_threads(f.lane, rows_[0]);
    r.partial.compute_at(shared, f.lane).store_in(MemoryType::Register).bound_extent(f.lane, 1);
    std::vector<VarOrRVar> order(r.over.begin(), r.over.end());
    order.emplace_back(f.lane);
    r.partial.update().reorder(order);
    for (const Var &v : r.position) r.partial.bound_extent(v, 1);
    of_row(r.result);
  }

  // One number of each row, in shared memory.
  void of_row(Func &g) { g.compute_at(block_).gpu_threads(rows_[0]); }

  std::vector<map_funcs> &launch_;
  const std::vector<Var> rows_;
  const int rows_of_block_;
  Func &out_;
  const Var rb_{"row_block"};
  const Halide::LoopLevel block_;
};

}  // namespace

bool schedule_rows_gpu(std::vector<map_funcs> &launch, const machine &m) {
  std::vector<Var> rows = rows_of(launch);
  if (rows.empty()) return false;
  const std::vector<Var> &result = launch.back().position;
  const bool has_columns = result.size() > rows.size();
  if (are_rows_neighbours(launch)) {
    if (has_columns) return false;
    thread_has_row(launch);
    return true;
  }
  if (has_columns && has_name(rows, result[0])) return false;
  rows_scheduler(launch, std::move(rows), m.gpu.map_rows).run();
  return true;
}

}  // namespace qkv::codegen
