// SPDX-License-Identifier: BSL-1.0
#pragma once
// SVG as text: shared by the pictures of the examples.
#include <fmt/format.h>

#include <string>

namespace examples::svg {

// anchor: start, middle or end; extra attributes as they are. No markup in the words.
inline std::string text(double x, double y, const std::string &words, const char *anchor,
                        const char *extra = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}{}>{}</text>\n", x, y,
                     anchor, *extra ? " " : "", extra, words);
}

inline std::string page(double width, double height, const std::string &body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
      width, height, body);
}

}  // namespace examples::svg
