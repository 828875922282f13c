// SPDX-License-Identifier: BSL-1.0
#pragma once
// Helpers shared by the GPU schedules.
#include <Halide.h>

#include <vector>

#include "codegen/machines/machine.hpp"

namespace qkv::codegen::gpu {

inline bool is_gpu(const Halide::Target &t) { return t.has_gpu_feature(); }

// Numbers of one memory access, a power of two, so that they divide n (0: not known, 1).
int vector_width(int n, const gpu_tiles &);

// Schedules these variables, innermost first and outside of all others, as the grid: one block of
// threads for each of their positions, however many there are. If nothing inside is split over
// threads, each position gets one thread.
template <class Loops>
void grid(Loops &f, const std::vector<Halide::Var> &vars) {
  f.gpu_blocks(vars[0]);
  for (std::size_t k = 1; k < vars.size(); ++k) f.parallel(vars[k]);
}

// Stored, one thread per element, whatever the shape.
void pointwise(Halide::Func);

// An update that takes its steps one after the other, innermost first: one thread per column, all
// columns in parallel.
void columns_apart(Halide::Stage, const std::vector<Halide::RVar> &steps,
                   const std::vector<Halide::Var> &columns);

// True if the Func's own computation (not that of the Funcs it calls) may be vectorized: for
// OpenCL, Halide 21 cannot lower vector comparisons under strict_float.
bool fits_vectors(const Halide::Func &);

// True if the Func's definition calls another Func; inputs of the kernel do not count.
bool reads_stored(const Halide::Func &);

// Of a reduction of the Func's update, when it is a constant; else 0.
int extent_of(const Halide::Func &, const Halide::RVar &);

// The lowering passes that GPU code needs.
void add_passes(Halide::Pipeline &, const machine &);

}  // namespace qkv::codegen::gpu
