// SPDX-License-Identifier: BSL-1.0
#pragma once
// The pipeline as a picture: a frame for each stage, a box for each step with its shape, dashed
// where the step is never stored.
#include <string>

#include "codegen/plan/plan.hpp"
#include "codegen/program/sizes.hpp"

namespace qkv::codegen {

enum class layout_by { graphviz, ourselves };

// A whole SVG file that follows the reader's dark mode. Numbers and positions are in the boxes of
// the steps that use them. Sizes may be incomplete: then the shapes show axis names. Without
// Graphviz the layout is our own, which has no overlaps either, but longer arrows. Throws
// std::invalid_argument when sizes contradict each other.
std::string graph_svg(const plan &, const size_map &sizes = {}, layout_by = layout_by::graphviz);

}  // namespace qkv::codegen
