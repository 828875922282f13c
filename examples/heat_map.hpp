// SPDX-License-Identifier: BSL-1.0
#pragma once
// Weights as pictures: a row of squares for each query, a column for each key, several side by
// side.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "examples/svg.hpp"

namespace examples {

struct heat {
  std::string title;
  std::size_t columns;
  std::vector<float> weights;  // row by row, none negative
};

struct labels {
  std::vector<std::string> rows, columns;
};

// A whole SVG file. A square is as dark as its weight, in twentieths of the largest weight of its
// row.
inline std::string heat_map(const std::string &title, const std::vector<heat> &all, double size,
                            const labels &names = {}) {
  constexpr double margin = 20, letter = 7.5;
  const auto longest = [](const std::vector<std::string> &words) {
    std::size_t n = 0;
    for (const std::string &w : words) n = std::max(n, w.size());
    return letter * static_cast<double>(n);
  };
  const double top = 66 + longest(names.columns);
  double left = margin + longest(names.rows), height = 0;
  std::string body = svg::text(margin, 24, title, "start", "font-weight=\"bold\"");
  for (std::size_t i = 0; i < names.rows.size(); ++i)
    body +=
        svg::text(left - 5, top + size * (static_cast<double>(i) + 0.5) + 4, names.rows[i], "end");
  for (const heat &h : all) {
    const std::size_t rows = h.weights.size() / h.columns;
    std::map<int, std::string> squares;  // of one shade
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = h.weights.begin() + static_cast<std::ptrdiff_t>(i * h.columns);
      const float most = *std::max_element(row, row + static_cast<std::ptrdiff_t>(h.columns));
      for (std::size_t j = 0; j < h.columns; ++j)
        if (const int shade =
                static_cast<int>(std::lround(20 * row[static_cast<std::ptrdiff_t>(j)] / most)))
          squares[shade] += fmt::format("M{} {}h1v1h-1z", j, i);
    }
    const double wide = size * static_cast<double>(h.columns),
                 high = size * static_cast<double>(rows);
    body += svg::text(left, 50, h.title, "start");
    body += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:g}\" height=\"{:g}\" fill=\"white\"/>\n", left,
        top, wide, high);
    for (std::size_t j = 0; j < names.columns.size(); ++j) {
      const double x = left + size * (static_cast<double>(j) + 0.5) + 4;
      body += svg::text(x, top - 5, names.columns[j], "start",
                        fmt::format("transform=\"rotate(-90 {:.1f} {:.1f})\"", x, top - 5).c_str());
    }
    body += fmt::format("<g transform=\"translate({:.1f} {:.1f}) scale({:g})\" fill=\"#1f4e8c\">\n",
                        left, top, size);
    for (const auto &[shade, path] : squares)
      body += fmt::format("<path fill-opacity=\"{:g}\" d=\"{}\"/>\n", shade / 20., path);
    body += fmt::format(
        "</g>\n<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:g}\" height=\"{:g}\" fill=\"none\" "
        "stroke=\"#aaa\"/>\n",
        left, top, wide, high);
    left += wide + margin;
    height = std::max(height, high);
  }
  left = std::max(left, 2 * margin + 8.5 * static_cast<double>(title.size()));
  return svg::page(left, top + height + margin, body, title);
}

}  // namespace examples
