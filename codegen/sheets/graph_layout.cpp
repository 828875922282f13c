// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/graph_layout.hpp"

#include <algorithm>
#include <limits>

namespace qkv::codegen {

double title_width(const std::string &stage) {
  return letter_width * static_cast<double>(stage.size());
}

double width_of(const pipeline_box &b) {
  static const double least = title_width("contraction");  // the longest title
  const auto letters = static_cast<double>(std::max(b.label.size(), b.extents.size()));
  return std::max(least, letter_width * letters + 16);
}

rectangle rectangle_of(const pipeline_graph &g, const graph_layout &l, std::size_t box) {
  const point &middle = l.boxes[box];
  const double half = width_of(g.boxes[box]) / 2;
  return {middle.x - half, middle.y - box_height / 2, middle.x + half, middle.y + box_height / 2};
}

rectangle frame_of(const pipeline_graph &g, const graph_layout &l, int stage) {
  constexpr double most = std::numeric_limits<double>::max();
  rectangle r{most, most, -most, -most};
  for (std::size_t k = 0; k < g.boxes.size(); ++k) {
    if (g.boxes[k].stage != stage) continue;
    const rectangle b = rectangle_of(g, l, k);
    r = {std::min(r.left, b.left), std::min(r.top, b.top), std::max(r.right, b.right),
         std::max(r.bottom, b.bottom)};
  }
  return {r.left - frame_margin, r.top - title_height, r.right + frame_margin,
          r.bottom + frame_margin};
}

}  // namespace qkv::codegen
