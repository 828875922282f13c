// SPDX-License-Identifier: BSL-1.0
#pragma once
// Where the boxes of a pipeline lie, and the ways of its arrows. No two boxes overlap, and none lies
// on the frame of a stage that is not its own.
#include <algorithm>
#include <optional>
#include <vector>

#include "codegen/sheets/pipeline_graph.hpp"

namespace qkv::codegen {

struct point {
  double x = 0, y = 0;  // pixels, from the left and from the top
};

struct graph_layout {
  std::vector<point> boxes;                // the middle of each
  std::vector<std::vector<point>> arrows;  // Bezier curves of three points after the first one
  double width = 0, height = 0;
};

// Room for the label in a font whose letters are all of one width.
inline constexpr double letter_width = 7.2, box_height = 40, frame = 10, frame_title = 18;
inline double width_of(const pipeline_box &b) {
  return letter_width * static_cast<double>(std::max(b.label.size(), b.extents.size())) + 16;
}

inline double title_width(const std::string &stage) {
  return letter_width * static_cast<double>(stage.size());
}

// Graphviz' layers ("dot", which must be installed). None where it is not, or fails.
// Source: Gansner, Koutsofios, North, Vo: A technique for drawing directed graphs, 1993.
std::optional<graph_layout> graphviz_layout(const pipeline_graph &);

// Layers of our own, plainer: stages one below the other. Cost: linear in the lengths of arrows.
graph_layout plain_layout(const pipeline_graph &);

}  // namespace qkv::codegen
