#include "attention_map.hpp"

#include <fmt/format.h>

namespace minilm {
namespace {

constexpr int left = 150, right = 450, width = 600, top = 70, step = 24;

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

int height_of(int token) { return top + step * token; }

}  // namespace

std::string attention_map(const std::string &title, const std::vector<std::string> &tokens,
                          int heads, const std::function<float(int, int, int)> &weight) {
  const int n = static_cast<int>(tokens.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"14\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"24\" text-anchor=\"middle\" font-weight=\"bold\">{3}</text>\n"
      "<text x=\"{4}\" y=\"48\" text-anchor=\"end\" fill=\"gray\">query</text>\n"
      "<text x=\"{5}\" y=\"48\" fill=\"gray\">key</text>\n",
      width, height_of(n) + 10, width / 2, escaped(title), left, right);
  for (int h = 0; h < heads; ++h) {
    svg += fmt::format("<g stroke=\"hsl({},75%,45%)\" stroke-width=\"2\">\n", 360 * h / heads);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (const float w = weight(h, i, j); w >= 0.05f)
          svg += fmt::format(
              "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke-opacity=\"{:.2f}\"/>\n",
              left + 8, height_of(i) - 5, right - 8, height_of(j) - 5, 0.8f * w);
    svg += "</g>\n";
  }
  for (int i = 0; i < n; ++i) {
    const std::string token = escaped(tokens[static_cast<std::size_t>(i)]);
    svg += fmt::format(
        "<text x=\"{0}\" y=\"{2}\" text-anchor=\"end\">{3}</text><text x=\"{1}\" y=\"{2}\">{3}</text>\n",
        left, right, height_of(i), token);
  }
  return svg + "</svg>\n";
}

}  // namespace minilm
