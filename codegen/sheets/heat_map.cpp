// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/heat_map.hpp"

#include <algorithm>
#include <cmath>

#include "codegen/sheets/svg.hpp"

namespace qkv::codegen {
namespace {

constexpr double cell = 13, between = 16, edge = 20, heading = 34;
constexpr std::int64_t most_cells = 32, most_matrices = 6;

struct extents {
  std::int64_t matrices, rows, columns;  // of the step
  std::int64_t n, r, c;                  // drawn
};

extents extents_of(const tool::step &x) {
  const std::vector<std::int64_t> &shape = x.values.shape;
  extents e{1, 1, 1, 1, 1, 1};
  if (!shape.empty()) e.columns = shape.back();
  if (shape.size() > 1) e.rows = shape[shape.size() - 2];
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) e.matrices *= shape[d];
  e.n = std::min(e.matrices, most_matrices);
  e.r = std::min(e.rows, most_cells);
  e.c = std::min(e.columns, most_cells);
  return e;
}

// White at 0; full at the largest magnitude of the step.
std::string colour(double v, double most) {
  if (!std::isfinite(v)) return "#bbb";
  const int other = 255 - static_cast<int>(std::lround(215 * std::abs(v) / most));
  return v < 0 ? fmt::format("rgb({0},{0},255)", other) : fmt::format("rgb(255,{0},{0})", other);
}

double largest(const std::vector<double> &all) {
  double most = 0;
  for (const double v : all)
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  return most > 0 ? most : 1;
}

}  // namespace

std::string heat_maps_svg(const std::vector<tool::step> &steps) {
  std::string body;
  double y = 10, width = 320;
  for (const tool::step &x : steps) {
    const extents e = extents_of(x);
    const double most = largest(x.values.data);
    const std::string title = x.title();
    body += svg::text(edge, y + 18, title, 14, "start", "font-weight=\"bold\"");
    width = std::max(width, edge + 9 * static_cast<double>(title.size()));
    for (std::int64_t m = 0; m < e.n; ++m) {
      const double x0 = edge + static_cast<double>(m) * (static_cast<double>(e.c) * cell + between);
      for (std::int64_t i = 0; i < e.r; ++i)
        for (std::int64_t j = 0; j < e.c; ++j) {
          const double v =
              x.values.data[static_cast<std::size_t>((m * e.rows + i) * e.columns + j)];
          body += fmt::format(
              "<rect x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"{2:.0f}\" height=\"{2:.0f}\" fill=\"{3}\" "
              "stroke=\"#ddd\"><title>{4:.4g}</title></rect>\n",
              x0 + static_cast<double>(j) * cell, y + heading - 8 + static_cast<double>(i) * cell,
              cell, colour(v, most), v);
        }
      width = std::max(width, x0 + static_cast<double>(e.c) * cell + edge);
    }
    y += heading + static_cast<double>(e.r) * cell + 6;
  }
  return svg::page(width, y + 10, body, {"Numbers of every step as heat maps"});
}

}  // namespace qkv::codegen
