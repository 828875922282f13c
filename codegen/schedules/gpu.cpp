#include "codegen/schedules/gpu.hpp"

#include "codegen/schedules/shrink_registers.hpp"
#include "codegen/schedules/tasks.hpp"

namespace qkv::codegen::gpu {

namespace hi = Halide::Internal;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

int vector_width(int n) { return n <= 0 ? 1 : n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1; }

void blocks(Func &f, const std::vector<Var> &grid) {
  if (grid.size() == 1) f.gpu_blocks(grid[0]);
  if (grid.size() == 2) f.gpu_blocks(grid[0], grid[1]);
  if (grid.size() == 3) f.gpu_blocks(grid[0], grid[1], grid[2]);
}

void pointwise(Func f) {
  f.compute_root();
  const std::vector<Var> all = fused(f, f.args());
  if (all.empty()) {
    f.gpu_single_thread();
    return;
  }
  Var block("block"), thread("thread");
  f.split(all[0], block, thread, 256, TailStrategy::GuardWithIf)
      .gpu_blocks(block)
      .gpu_threads(thread);
}

void columns_apart(Halide::Stage update, const std::vector<Halide::RVar> &steps,
                   const std::vector<Var> &columns) {
  if (columns.empty()) {
    update.gpu_single_thread();
    return;
  }
  Var block("block"), thread("thread");
  update.split(columns[0], block, thread, 32, TailStrategy::GuardWithIf);
  std::vector<Halide::VarOrRVar> order(steps.begin(), steps.end());
  order.insert(order.end(), {thread, block});
  order.insert(order.end(), columns.begin() + 1, columns.end());
  update.reorder(order).gpu_threads(thread).gpu_blocks(block);
  for (std::size_t k = 1; k < columns.size() && k < 3; ++k) update.gpu_blocks(columns[k]);
}

bool calls(const Func &user, const Func &used) {
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

bool fits_vectors(const Func &f) {
  struct finder : hi::IRVisitor {
    using IRVisitor::visit;
    bool strict = false;
    void visit(const hi::Call *op) override {
      strict = strict || op->name.rfind("strict_", 0) == 0;
      IRVisitor::visit(op);
    }
  } look;
  f.function().accept(&look);
  return !look.strict;
}

int extent_of(const Func &f, const Halide::RVar &v) {
  for (const hi::ReductionVariable &r : f.function().update(0).schedule().rvars())
    if (r.var == v.name())
      if (auto c = hi::as_const_int(hi::simplify(r.extent))) return static_cast<int>(*c);
  return 0;
}

void add_passes(Halide::Pipeline &p) { p.add_custom_lowering_pass(new shrink_registers); }

}  // namespace qkv::codegen::gpu
