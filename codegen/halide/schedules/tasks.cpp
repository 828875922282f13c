// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/tasks.hpp"

#include <algorithm>
#include <string>

namespace qkv::codegen {

using Halide::Var;

namespace {

template <class Loops>
std::vector<Var> fused_in(Loops &f, const std::vector<Var> &loops) {
  if (loops.empty()) return {};
  Var all = loops[0];
  for (std::size_t k = 1; k < loops.size(); ++k) {
    const Var next(all.name() + "_" + loops[k].name());
    f.fuse(all, loops[k], next);
    all = next;
  }
  return {all};
}

}  // namespace

bool has_name(const std::vector<Var> &loops, const Var &v) {
  return std::any_of(loops.begin(), loops.end(),
                     [&](const Var &x) { return x.name() == v.name(); });
}

std::vector<Var> fused(Halide::Func &f, const std::vector<Var> &loops) {
  return fused_in(f, loops);
}
std::vector<Var> fused(Halide::Stage &s, const std::vector<Var> &loops) {
  return fused_in(s, loops);
}

Halide::LoopLevel parallel_tasks(Halide::Func &f, const std::vector<Var> &loops) {
  Halide::Stage definition = f;
  return parallel_tasks(f, definition, loops);
}

Halide::LoopLevel parallel_tasks(const Halide::Func &f, Halide::Stage &definition,
                                 const std::vector<Var> &loops) {
  const std::vector<Var> task = fused(definition, loops);
  if (task.empty()) return {f, Var::outermost()};
  definition.parallel(task[0]);
  return {f, task[0]};
}

}  // namespace qkv::codegen
