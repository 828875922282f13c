// SPDX-License-Identifier: BSL-1.0
#pragma once
// Which steps sheets and pictures show, and in which order of axes.
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

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
