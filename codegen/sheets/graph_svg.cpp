// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/graph_svg.hpp"

#include <algorithm>

#include "codegen/program/text.hpp"
#include "codegen/sheets/graph_layout.hpp"
#include "codegen/sheets/svg.hpp"

namespace qkv::codegen {
namespace {

constexpr double margin = 16, heading_height = 30;

// Colours are classes, so that one style sheet serves light and dark.
constexpr std::string_view style =
    "text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    ".shape{fill:#0a58a8}.kind{fill:#666;stroke:#f7f7f2;stroke-width:3px;paint-order:stroke}"
    ".arrow{fill:none;stroke:#666}.tip{fill:#666}"
    ".stage{fill:#f7f7f2;stroke:#bbb}.box{stroke:#888}.never{stroke-dasharray:4 3}"
    ".in{fill:#dff0df}.param{fill:#eee6fa}.out{fill:#fde9d0}.dot{fill:#d8e8fb}"
    ".weights{fill:#fbdde3}.other{fill:#fff}"
    "@media(prefers-color-scheme:dark){.shape{fill:#8ec3ff}.kind{fill:#aaa;stroke:#202226}"
    ".arrow{stroke:#aaa}"
    ".tip{fill:#aaa}.stage{fill:#202226;stroke:#555}.in{fill:#1f3d22}.param{fill:#352a4d}"
    ".out{fill:#4a331a}.dot{fill:#1c3552}.weights{fill:#4d2430}.other{fill:#2a2d33}}";

std::string_view class_of(op k) {
  if (k == op::input) return "in";
  if (k == op::param) return "param";
  if (k == op::output) return "out";
  if (k == op::dot) return "dot";
  return makes_weights(k) ? "weights" : "other";
}

class picture {
 public:
  picture(const program &p, pipeline_graph graph, graph_layout layout)
      : p_(p), g_(std::move(graph)), l_(std::move(layout)) {}

  std::string run() const {
    std::string body =
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"6\" "
        "markerHeight=\"6\" "
        "orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n";
    body += svg::text(margin, margin + 6, p_.name, 15, "start", "font-weight=\"bold\"");
    std::string titles;  // above the arrows that cross them
    for (std::size_t s = 0; s < g_.stages.size(); ++s) {
      const rectangle r = frame_of(g_, l_, static_cast<int>(s));
      body += frame(r);
      titles += svg::text(x(r.left + frame_margin), y(r.top) + 13, g_.stages[s], 11, "start",
                          "class=\"kind\"");
    }
    for (const std::vector<point> &way : l_.arrows) body += arrow(way);
    body += titles;
    for (std::size_t k = 0; k < g_.boxes.size(); ++k) body += box(k);
    const double name = 9.1 * static_cast<double>(p_.name.size());
    return svg::page(std::max(l_.width, name) + 2 * margin, l_.height + heading_height + margin,
                     body, {"Pipeline of " + p_.name, words(), style});
  }

 private:
  double x(double at) const { return margin + at; }
  double y(double at) const { return heading_height + at; }

  std::string frame(const rectangle &r) const {
    return fmt::format(
        "<rect class=\"stage\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"6\"/>\n",
        x(r.left), y(r.top), r.right - r.left, r.bottom - r.top);
  }

  std::string arrow(const std::vector<point> &way) const {
    if (way.empty()) return "";
    std::string path = fmt::format("M{:.1f} {:.1f}C", x(way[0].x), y(way[0].y));
    for (std::size_t k = 1; k < way.size(); ++k)
      path += fmt::format("{}{:.1f} {:.1f}", k > 1 ? " " : "", x(way[k].x), y(way[k].y));
    return fmt::format("<path class=\"arrow\" d=\"{}\" marker-end=\"url(#tip)\"/>\n", path);
  }

  std::string box(std::size_t k) const {
    const pipeline_box &b = g_.boxes[k];
    const double width = width_of(b), cx = x(l_.boxes[k].x), cy = y(l_.boxes[k].y);
    return fmt::format(
               "<g><title>{}</title><rect class=\"box {}{}\" x=\"{:.1f}\" y=\"{:.1f}\" "
               "width=\"{:.1f}\" "
               "height=\"{:g}\" rx=\"5\"/>\n",
               svg::escaped(b.words), class_of(p_[b.step].kind), b.is_stored ? "" : " never",
               cx - width / 2, cy - box_height / 2, width, box_height) +
           svg::text(cx, cy - 3, b.label, 12, "middle") +
           svg::text(cx, cy + 13, b.extents, 11, "middle", "class=\"shape\"") + "</g>\n";
  }

  // For those who do not see the picture.
  std::string words() const {
    std::string text =
        fmt::format("{} stage{}:", g_.stages.size(), g_.stages.size() == 1 ? "" : "s");
    for (std::size_t s = 0; s < g_.stages.size(); ++s) {
      text += fmt::format("{} {} stores", s ? ";" : "", g_.stages[s]);
      for (const pipeline_box &b : g_.boxes)
        if (b.stage == static_cast<int>(s) && b.is_stored) text += " " + label_of(p_, b.step);
    }
    return text + ". Dashed boxes are never stored.";
  }

  const program &p_;
  pipeline_graph g_;
  graph_layout l_;
};

}  // namespace

std::string graph_svg(const plan &made, const size_map &sizes, layout_by by) {
  pipeline_graph graph = graph_of(made, resolve_sizes(made.p, sizes));
  std::optional<graph_layout> layout;
  if (by == layout_by::graphviz) layout = graphviz_layout(graph);
  if (!layout) layout = plain_layout(graph);
  return picture(made.p, std::move(graph), std::move(*layout)).run();
}

}  // namespace qkv::codegen
