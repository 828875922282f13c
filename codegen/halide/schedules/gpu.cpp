// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/gpu.hpp"

#include "codegen/halide/schedules/float_literals.hpp"
#include "codegen/halide/schedules/fuse_grids.hpp"
#include "codegen/halide/schedules/narrow_loads.hpp"
#include "codegen/halide/schedules/rounded_in_ptx.hpp"
#include "codegen/halide/schedules/shrink_registers.hpp"
#include "codegen/halide/schedules/sixteen_bits.hpp"

namespace qkv::codegen::gpu {

namespace hi = Halide::Internal;
using Halide::Func;
using Halide::Var;

int vector_width(int n, const gpu_tiles &tiles) {
  int width = n <= 0 ? 1 : tiles.load_width;
  while (n % width != 0) width /= 2;
  return width;
}

void pointwise(Func f) {
  f.compute_root();
  if (f.args().empty())
    f.gpu_single_thread();
  else
    grid(f, f.args());
}

void columns_apart(Halide::Stage update, const std::vector<Halide::RVar> &steps,
                   const std::vector<Var> &columns) {
  if (columns.empty()) {
    update.gpu_single_thread();
    return;
  }
  std::vector<Halide::VarOrRVar> order(steps.begin(), steps.end());
  order.insert(order.end(), columns.begin(), columns.end());
  update.reorder(order);
  grid(update, columns);
}

bool fits_vectors(const Func &f) {
  struct finder : hi::IRVisitor {
    using IRVisitor::visit;
    bool compares = false;
    void visit(const hi::Call *op) override {
      compares = compares || op->is_intrinsic(hi::Call::strict_lt) ||
                 op->is_intrinsic(hi::Call::strict_le) || op->is_intrinsic(hi::Call::strict_eq);
      IRVisitor::visit(op);
    }
  } look;
  f.function().accept(&look);
  return !look.compares;
}

bool reads_stored(const Func &f) {
  struct finder : hi::IRVisitor {
    using IRVisitor::visit;
    bool found = false;
    void visit(const hi::Call *op) override {
      found = found || op->call_type == hi::Call::Halide;
      IRVisitor::visit(op);
    }
  } look;
  f.function().accept(&look);
  return look.found;
}

int extent_of(const Func &f, const Halide::RVar &v) {
  for (const hi::ReductionVariable &r : f.function().update(0).schedule().rvars())
    if (r.var == v.name())
      if (auto c = hi::as_const_int(hi::simplify(r.extent))) return static_cast<int>(*c);
  return 0;
}

void add_passes(Halide::Pipeline &p, const machine &m) {
  p.add_custom_lowering_pass(new shrink_registers);
  p.add_custom_lowering_pass(new fuse_grids(m.gpu));
  const bool opencl = m.device == "opencl";
  p.add_custom_lowering_pass(new sixteen_bits(opencl));
  if (opencl)
    p.add_custom_lowering_pass(new narrow_loads);
  else
    p.add_custom_lowering_pass(new rounded_in_ptx);
  p.add_custom_lowering_pass(new float_literals);
}

}  // namespace qkv::codegen::gpu
