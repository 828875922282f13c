// SPDX-License-Identifier: BSL-1.0
#pragma once
// Where the boxes of a pipeline lie, and the ways of its arrows. No two boxes overlap, and none
// lies on the frame of another stage.
#include <optional>
#include <vector>

#include "codegen/sheets/pipeline_graph.hpp"

namespace qkv::codegen {

struct point {
  double x = 0, y = 0;  // pixels, from the left and from the top
};

struct graph_layout {
  std::vector<point> boxes;  // the middle of each
  std::vector<std::vector<point>>
      arrows;  // cubic Bezier curves: start, then three points a segment
  double width = 0, height = 0;
};

// Room for labels in a font whose letters are all of one width.
inline constexpr double letter_width = 7.2, box_height = 40, frame_margin = 10, title_height = 18;
double title_width(const std::string &stage);
// At least the width of a stage's title, which stands above its boxes.
double width_of(const pipeline_box &);

struct rectangle {
  double left, top, right, bottom;
};
rectangle rectangle_of(const pipeline_graph &, const graph_layout &, std::size_t box);
// Around the boxes of a stage, with its title.
rectangle frame_of(const pipeline_graph &, const graph_layout &, int stage);

// Graphviz' layers ("dot", which must be installed). None where it is not, or fails.
// Source: Gansner, Koutsofios, North, Vo: A technique for drawing directed graphs, 1993.
std::optional<graph_layout> graphviz_layout(const pipeline_graph &);

// Layers of our own, plainer: stages one below the other. Cost: boxes times arrows.
graph_layout plain_layout(const pipeline_graph &);

}  // namespace qkv::codegen
