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

// Text, paper and what has the class "grid" follow the reader's dark mode. The title is for readers
// who do not see the picture.
inline std::string page(double width, double height, const std::string &body,
                        const std::string &title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
      "height=\"{1:g}\" "
      "font-family=\"sans-serif\" font-size=\"13\" role=\"img\">\n<title>{3}</title>\n"
      "<style>.paper{{fill:#fff}}text{{fill:#222}}.grid{{stroke:#ddd}}"
      "@media(prefers-color-scheme:dark){{.paper{{fill:#16181c}}text{{fill:#ddd}}.grid{{stroke:#"
      "444}}}}</style>\n"
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{2}</svg>\n",
      width, height, body, title);
}

}  // namespace examples::svg
