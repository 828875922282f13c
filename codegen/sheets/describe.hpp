// SPDX-License-Identifier: BSL-1.0
#pragma once
// The sheet of a kernel: signature, shapes of every step, cost, stages. `describe K` of the tool
// prints it.
#include <span>
#include <string>

#include "codegen/program/sizes.hpp"
#include "codegen/sheets/stage_report.hpp"

namespace qkv::codegen {

// Sizes may be incomplete: then formulas replace numbers. Stages are left out when none are given.
// Throws std::invalid_argument when sizes contradict each other.
std::string describe(const program &, const size_map &sizes = {},
                     std::span<const stage_report> = {});

// The change of shape from the first input to the first output, batch axes first:
// "X (1,4,512) -> (1,8,4,64) -> scores (1,8,4,4) -> (1,8,4,64) -> Y (1,4,512)"
std::string shape_trace(const program &, const std::vector<std::int64_t> &size);

// True for steps that have a line of their own: numbers and positions are in the labels of the
// steps that use them.
bool is_shown(const node &);

// Axes of a step as people write them: as declared for arguments and outputs, else batch axes
// first.
std::vector<axis_id> shown_shape(const program &, node_id);

// "(1,8,4,64)"; the axis' name where its size is not known.
std::string extents_text(const program &, const std::vector<axis_id> &,
                         const std::vector<std::int64_t> &size);

}  // namespace qkv::codegen
