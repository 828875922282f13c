// SPDX-License-Identifier: BSL-1.0
#pragma once
// The pipeline as a picture: inputs at the top, one box a step, the shape of what flows on every
// edge.
#include <string>

#include "codegen/program/sizes.hpp"

namespace qkv::codegen {

// A whole SVG file. Numbers and positions are in the boxes of the steps that use them. Sizes may be
// incomplete: then the shapes show axis names. Throws std::invalid_argument when sizes contradict
// each other.
std::string graph_svg(const program &, const size_map &sizes = {});

}  // namespace qkv::codegen
