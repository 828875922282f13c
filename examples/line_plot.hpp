// SPDX-License-Identifier: BSL-1.0
#pragma once
// Measurements as a picture: lines over two logarithmic axes, with the points that they connect.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "examples/svg.hpp"

namespace examples {

struct line {
  std::string name, colour;
  std::vector<double> y;  // one for each x
};

// A whole SVG file. All numbers must be positive. Ticks are at powers of two along x and of ten
// along y.
inline std::string line_plot(const std::string &title, const std::string &x_name,
                             const std::string &y_name, const std::vector<double> &x,
                             const std::vector<line> &lines) {
  constexpr double width = 640, height = 400, left = 70, right = 150, top = 50, bottom = 50;
  double low = 1e300, high = 0;
  for (const line &l : lines)
    for (double y : l.y) low = std::min(low, y), high = std::max(high, y);
  low = std::pow(10, std::floor(std::log10(low))), high = std::pow(10, std::ceil(std::log10(high)));
  const auto at_x = [&](double v) {
    return left + (width - left - right) * std::log(v / x.front()) / std::log(x.back() / x.front());
  };
  const auto at_y = [&](double v) {
    return height - bottom - (height - top - bottom) * std::log(v / low) / std::log(high / low);
  };
  std::string body = svg::text(left, 24, title, "start") +
                     svg::text((left + width - right) / 2, height - 10, x_name, "middle") +
                     svg::text(left, top - 10, y_name, "start");
  for (double v : x) {
    body +=
        fmt::format("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" class=\"grid\"/>\n",
                    at_x(v), top, height - bottom);
    body += svg::text(at_x(v), height - bottom + 18, fmt::format("{:g}", v), "middle");
  }
  for (double v = low; v <= high * 1.001; v *= 10) {
    body +=
        fmt::format("<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" class=\"grid\"/>\n",
                    left, at_y(v), width - right);
    body += svg::text(left - 8, at_y(v) + 4, fmt::format("{:g}", v), "end");
  }
  struct end {
    double y;
    std::string name;
  };
  std::vector<end> ends;
  for (const line &l : lines) {
    std::string points;
    for (std::size_t k = 0; k < x.size(); ++k)
      points += fmt::format("{:.1f},{:.1f} ", at_x(x[k]), at_y(l.y[k]));
    body +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                    points, l.colour);
    ends.push_back({at_y(l.y.back()) + 4, l.name});
  }
  std::stable_sort(ends.begin(), ends.end(), [](const end &a, const end &b) { return a.y < b.y; });
  double last = 0;
  for (const end &e : ends) {
    last = std::max(e.y, last + 15);  // names of lines that end side by side lie apart
    body += svg::text(width - right + 8, last, e.name, "start");
  }
  return svg::page(width, height, body, title);
}

}  // namespace examples
