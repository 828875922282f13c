// SPDX-License-Identifier: BSL-1.0
#pragma once
// One file per stage and target family. A schedule decides where and in what order; it never
// changes a value.
#include <Halide.h>

#include "codegen/halide/lower/attention.hpp"
#include "codegen/halide/lower/contraction.hpp"
#include "codegen/halide/lower/map.hpp"
#include "codegen/halide/lower/scan.hpp"
#include "codegen/machines/machine.hpp"

namespace qkv::codegen {

void schedule_attention_cpu(std::vector<attention_funcs> &forms, const machine &,
                            const std::vector<bool> &is_output);
void schedule_contraction_cpu(contraction_funcs &, const machine &, bool is_output);
// Rows of its register tile.
int rows_of_tile(const contraction_funcs &, const machine &);
void schedule_map_cpu(map_funcs &, const machine &, bool is_output);
void schedule_scan_cpu(scan_funcs &, const machine &, const std::vector<bool> &is_output);

void schedule_attention_gpu(attention_funcs &, const machine &);
void schedule_contraction_gpu(contraction_funcs &, const machine &);
void schedule_map_gpu(map_funcs &);
// Maps that share a launch, which ends with the last one. False, and nothing done, if they cannot.
bool schedule_rows_gpu(std::vector<map_funcs> &launch, const machine &);
void schedule_scan_gpu(scan_funcs &);

}  // namespace qkv::codegen
