// SPDX-License-Identifier: BSL-1.0
#pragma once
// Turns loops into tasks for threads, of a CPU or a GPU.
#include <Halide.h>

#include <vector>

namespace qkv::codegen {

// True if one of these loops has the name of this one.
bool has_name(const std::vector<Halide::Var> &loops, const Halide::Var &);

// One loop made of these, innermost first; none when there are none.
std::vector<Halide::Var> fused(Halide::Func &, const std::vector<Halide::Var> &loops);
std::vector<Halide::Var> fused(Halide::Stage &, const std::vector<Halide::Var> &loops);

// The same, in parallel. Returns the level at which one task begins: its producers are computed
// there. No loops: the whole Func is one task.
Halide::LoopLevel parallel_tasks(Halide::Func &, const std::vector<Halide::Var> &loops);
// The same, of one definition of the Func, as a specialization has its own.
Halide::LoopLevel parallel_tasks(const Halide::Func &, Halide::Stage &definition,
                                 const std::vector<Halide::Var> &loops);

}  // namespace qkv::codegen
