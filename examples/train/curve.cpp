// SPDX-License-Identifier: BSL-1.0
#include "curve.hpp"

#include <algorithm>
#include <cmath>

#include "examples/svg.hpp"

namespace my {
namespace {

namespace svg = examples::svg;
constexpr double width = 640, height = 400, left = 60, right = 110, top = 50, bottom = 50;

struct scale {
  double first, last, from, to;
  double operator()(double v) const { return from + (to - from) * (v - first) / (last - first); }
};

std::string grid_line(double x1, double y1, double x2, double y2) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"grid\"/>\n", x1, y1,
      x2, y2);
}

std::string drawn(const std::vector<losses> &all, double losses::*which, const char *name,
                  const char *colour, scale x, scale y) {
  std::string points;
  for (const losses &l : all) points += fmt::format("{:.1f},{:.1f} ", x(l.step), y(l.*which));
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                     points, colour) +
         svg::text(width - right + 8, y(all.back().*which) + 4, name, "start");
}

}  // namespace

std::string loss_curve(const std::string &title, const std::vector<losses> &all) {
  double low = all.front().train, high = low;
  for (const losses &l : all)
    for (const double v : {l.train, l.held_back}) low = std::min(low, v), high = std::max(high, v);
  low = std::floor(2 * low) / 2, high = std::ceil(2 * high) / 2;  // ticks at halves
  const double last = all.back().step, tick = std::max(1.0, last / 5);
  const scale x{0, last, left, width - right}, y{low, high, height - bottom, top};
  std::string body = svg::text(left, 24, title, "start") +
                     svg::text((left + width - right) / 2, height - 10, "steps", "middle") +
                     svg::text(left, top - 10, "nats per character", "start");
  for (double v = 0; v <= last; v += tick)
    body += grid_line(x(v), top, x(v), height - bottom) +
            svg::text(x(v), height - bottom + 18, fmt::format("{:.0f}", v), "middle");
  for (double v = low; v <= high; v += 0.5)
    body += grid_line(left, y(v), width - right, y(v)) +
            svg::text(left - 8, y(v) + 4, fmt::format("{:.1f}", v), "end");
  body += drawn(all, &losses::train, "training", "#1f77b4", x, y);
  body += drawn(all, &losses::held_back, "held back", "#d62728", x, y);
  return svg::page(width, height, body, title);
}

}  // namespace my
