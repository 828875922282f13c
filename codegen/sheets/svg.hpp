// SPDX-License-Identifier: BSL-1.0
#pragma once
// SVG as plain text: just what the pictures of this folder need.
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace qkv::codegen::svg {

inline std::string escaped(std::string_view text) {
  std::string r;
  for (char c : text) {
    if (c == '&')
      r += "&amp;";
    else if (c == '<')
      r += "&lt;";
    else if (c == '>')
      r += "&gt;";
    else if (c == '"')
      r += "&quot;";
    else
      r += c;
  }
  return r;
}

// `size` in pixels; anchor: start, middle or end; extra attributes as they are.
inline std::string text(double x, double y, std::string_view what, double size, const char *anchor,
                        std::string_view extra = "") {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\" text-anchor=\"{}\"{}{}>{}</text>\n", x, y,
      size, anchor, extra.empty() ? "" : " ", extra, escaped(what));
}

// For readers who do not see the picture, and its own rules of style.
struct about {
  std::string_view title, description = "", style = "";
};

// Follows the reader's dark mode.
inline std::string page(double width, double height, std::string_view body, const about &a) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" role=\"img\">\n<title>{3}</title>\n{4}"
      "<style>.paper{{fill:#fff}}text{{fill:#222}}@media(prefers-color-scheme:dark){{"
      ".paper{{fill:#16181c}}"
      "text{{fill:#ddd}}}}{5}</style>\n"
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{2}</svg>\n",
      width, height, body, escaped(a.title),
      a.description.empty() ? "" : "<desc>" + escaped(a.description) + "</desc>\n", a.style);
}

}  // namespace qkv::codegen::svg
