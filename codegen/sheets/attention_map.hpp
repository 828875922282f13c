// SPDX-License-Identifier: BSL-1.0
#pragma once
// Weights as a picture: the attending tokens on the left, the attended tokens on the right, a line
// for each weight.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "codegen/sheets/svg.hpp"

namespace qkv {

// weights: row-major, one row for each token of `from`, one column for each of `to`; lines are as
// opaque as the weights are large. Weights below `least` are left out. A whole SVG file. Empty when
// the sizes do not fit.
inline std::string attention_map_svg(std::span<const float> weights,
                                     const std::vector<std::string> &from,
                                     const std::vector<std::string> &to,
                                     const std::string &title = "", float least = 0.01f) {
  namespace svg = codegen::svg;
  if (weights.size() != from.size() * to.size()) return "";
  constexpr double line = 22, letter = 8.5, between = 260, head = 46;
  std::size_t left = 1, right = 1;
  for (const std::string &t : from) left = std::max(left, t.size());
  for (const std::string &t : to) right = std::max(right, t.size());
  const double x1 = 20 + letter * static_cast<double>(left), x2 = x1 + between;
  const auto y = [](std::size_t k) { return head + line * static_cast<double>(k); };

  std::string body = svg::text(20, 26, title, 15, "start", "font-weight=\"bold\"");
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t j = 0; j < to.size(); ++j) {
      const float w = weights[i * to.size() + j];
      if (!(w >= least)) continue;
      body += fmt::format(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
          "stroke=\"hsl({:.0f},65%,45%)\" "
          "stroke-width=\"2.5\" opacity=\"{:.3f}\"/>\n",
          x1 + 6, y(i), x2 - 6, y(j),
          360.0 * static_cast<double>(i) / static_cast<double>(from.size()), std::min(w, 1.0f));
    }
  for (std::size_t i = 0; i < from.size(); ++i) body += svg::text(x1, y(i) + 4, from[i], 14, "end");
  for (std::size_t j = 0; j < to.size(); ++j) body += svg::text(x2, y(j) + 4, to[j], 14, "start");
  const double rows = static_cast<double>(std::max(from.size(), to.size()));
  return svg::page(x2 + 20 + letter * static_cast<double>(right), head + line * rows + 10, body,
                   {title.empty() ? "Attention weights" : title});
}

// Self-attention: the same tokens on both sides.
inline std::string attention_map_svg(std::span<const float> weights,
                                     const std::vector<std::string> &tokens,
                                     const std::string &title = "") {
  return attention_map_svg(weights, tokens, tokens, title);
}

}  // namespace qkv
