// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "codegen/process/child.hpp"
#include "codegen/process/scratch.hpp"
#include "codegen/sheets/graph_layout.hpp"

namespace qkv::codegen {
namespace {

constexpr double pixels = 72;  // of an inch, dot's unit of length

std::string box_text(const pipeline_graph &g, std::size_t k) {
  return fmt::format("b{} [width={:.4f}];\n", k, width_of(g.boxes[k]) / pixels);
}

// All sizes are ours, so that the result does not depend on fonts: boxes have no text here, and the
// title of a stage is an empty table of its size.
std::string dot_text(const pipeline_graph &g) {
  std::string text = fmt::format(
      "digraph {{ nodesep=0.3; ranksep=0.35; edge [dir=none]; node [shape=box fixedsize=true "
      "label=\"\" height={:.4f}];\n",
      box_height / pixels);
  for (std::size_t s = 0; s < g.stages.size(); ++s) {
    text += fmt::format(
        "subgraph cluster_{} {{ margin={}; label=<<table border=\"0\" fixedsize=\"true\" "
        "width=\"{:.0f}\" "
        "height=\"{:.0f}\"><tr><td></td></tr></table>>;\n",
        s, frame_margin, title_width(g.stages[s]), title_height);
    for (std::size_t k = 0; k < g.boxes.size(); ++k)
      if (g.boxes[k].stage == static_cast<int>(s)) text += box_text(g, k);
    text += "}\n";
  }
  for (std::size_t k = 0; k < g.boxes.size(); ++k)
    if (g.boxes[k].stage < 0) text += box_text(g, k);
  for (const auto &[from, to] : g.arrows) text += fmt::format("b{} -> b{};\n", from, to);
  return text + "}\n";
}

// Empty where dot fails, or is not there; throws where its files have no folder.
std::string placed_by_dot(const std::string &text) {
  const scratch folder;
  const std::string graph = folder.path("pipeline.dot"), placed = folder.path("plain");
  std::ofstream(graph) << text;
  if (!run_program({"dot", "-Tplain", graph, "-o", placed}, folder.path("log"))) return "";
  std::stringstream answer;
  answer << std::ifstream(placed).rdbuf();
  return answer.str();
}

// Lines "graph scale width height", "node b3 x y ..", "edge b1 b3 points x y .. style colour",
// "stop"; inches from the lower left.
class reader {
 public:
  explicit reader(const pipeline_graph &g) : g_(g) {
    l_.boxes.resize(g.boxes.size());
    l_.arrows.resize(g.arrows.size());
  }

  std::optional<graph_layout> run(const std::string &answer) {
    std::istringstream lines(answer);
    bool is_whole = false;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string kind;
      words >> kind;
      if (kind == "graph") page(words);
      if (kind == "node") box(words);
      if (kind == "edge") arrow(words);
      is_whole = is_whole || kind == "stop";
    }
    if (!is_whole || boxes_ != l_.boxes.size() || arrows_ != l_.arrows.size()) return std::nullopt;
    return std::move(l_);
  }

 private:
  void page(std::istream &words) {
    double scale = 1;
    words >> scale >> l_.width >> l_.height;
    l_.width *= pixels, l_.height *= pixels;
  }

  void box(std::istream &words) {
    const int k = index(words);
    if (k < 0 || k >= static_cast<int>(l_.boxes.size())) return;
    l_.boxes[static_cast<std::size_t>(k)] = at(words);
    ++boxes_;
  }

  void arrow(std::istream &words) {
    const int from = index(words), to = index(words);
    std::size_t points = 0;
    words >> points;
    const auto found = std::find(g_.arrows.begin(), g_.arrows.end(), std::pair<int, int>(from, to));
    if (found == g_.arrows.end()) return;
    auto &way = l_.arrows[static_cast<std::size_t>(found - g_.arrows.begin())];
    for (std::size_t k = 0; k < points && words; ++k) way.push_back(at(words));
    ++arrows_;
  }

  static int index(std::istream &words) {
    char b = 0;
    int k = -1;
    words >> b >> k;
    return k;
  }

  point at(std::istream &words) const {
    point p;
    words >> p.x >> p.y;
    return {p.x * pixels, l_.height - p.y * pixels};
  }

  const pipeline_graph &g_;
  graph_layout l_;
  std::size_t boxes_ = 0, arrows_ = 0;
};

}  // namespace

std::optional<graph_layout> graphviz_layout(const pipeline_graph &g) {
  try {
    return reader(g).run(placed_by_dot(dot_text(g)));
  } catch (const std::runtime_error &) {
    return std::nullopt;
  }
}

}  // namespace qkv::codegen
