// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/graph_svg.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/program/text.hpp"
#include "codegen/sheets/describe.hpp"
#include "codegen/sheets/svg.hpp"

namespace qkv::codegen {
namespace {

constexpr double box_height = 30, layer_height = 78, gap = 26, margin = 24, letter = 7.2;

struct box {
  int layer = 0;
  double x = 0, width = 0;  // x of the middle
  std::string text;
};

class picture {
 public:
  picture(const program &p, std::vector<std::int64_t> size) : p_(p), size_(std::move(size)) {}

  std::string run() {
    make_boxes();
    pull_sources_down();
    make_edges();
    arrange();
    std::string body =
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
        "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n";
    body += svg::text(margin, margin + 4, p_.name, 16, "start", "font-weight=\"bold\"");
    body += edges();
    for (const auto &[n, b] : boxes_)
      if (n >= 0) body += drawn(n, b);
    return svg::page(width_, top(layers_) + margin, body);
  }

 private:
  // Made of numbers and positions only: part of the label of its users.
  bool is_constant(node_id n) const {
    const op k = p_[n].kind;
    if (k == op::input || k == op::param || k == op::output) return false;
    return std::all_of(p_[n].in.begin(), p_[n].in.end(), [&](node_id o) { return is_constant(o); });
  }

  void make_boxes() {
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (is_constant(n)) continue;
      box b;
      for (node_id operand : p_[n].in)
        if (boxes_.count(operand)) b.layer = std::max(b.layer, boxes_[operand].layer + 1);
      b.text = box_text(n);
      b.width = static_cast<double>(b.text.size()) * letter + 18;
      layers_ = std::max(layers_, b.layer + 1);
      boxes_[n] = b;
    }
  }

  std::string axes_of(const node &n) const {
    std::string text;
    for (axis_id a : n.over) text += (text.empty() ? "" : ", ") + p_.axes[a].name;
    return text.empty() ? text : fmt::format("<{}>", text);
  }

  std::string box_text(node_id id) const {
    const node &n = p_[id];
    if (n.kind == op::input || n.kind == op::param || n.kind == op::output) return n.name;
    std::string text = fmt::format("{}{}", name_of(n.kind), axes_of(n));
    for (std::size_t k = 0; k < n.in.size(); ++k) {
      if (!is_constant(n.in[k])) continue;
      const std::string label = label_of(p_, n.in[k]);
      // "5 -" is not "- 5"
      text = k == 0 && n.in.size() == 2 ? fmt::format("{} {}", label, text)
                                        : fmt::format("{} {}", text, label);
    }
    return n.name.empty() ? text : fmt::format("{}: {}", n.name, text);
  }

  // An argument is placed just above its first user.
  void pull_sources_down() {
    for (auto &[n, b] : boxes_) {
      if (!is_source(p_[n].kind)) continue;
      int first = layers_;
      for (const auto &[user, at] : boxes_) {
        const auto &in = p_[user].in;
        if (std::find(in.begin(), in.end(), n) != in.end()) first = std::min(first, at.layer);
      }
      if (first < layers_) b.layer = first - 1;
    }
  }

  // An edge that passes layers goes through an empty box in each, so that it crosses no step.
  void make_edges() {
    int corners = 0;
    for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n) {
      if (!boxes_.count(n)) continue;
      for (node_id operand : p_[n].in) {
        if (!boxes_.count(operand)) continue;
        std::vector<int> way = {operand};
        for (int layer = boxes_[operand].layer + 1; layer < boxes_[n].layer; ++layer) {
          const int corner = -++corners;
          boxes_[corner] = {layer, 0, 8, ""};
          before_[corner] = {way.back()};
          way.push_back(corner);
        }
        before_[n].push_back(way.back());
        way.push_back(n);
        edges_.push_back(way);
      }
    }
  }

  // Layer by layer from the top: each box as near as possible to the middle of its operands; then
  // the arguments, next to their users.
  void arrange() {
    for (int layer = 0; layer < layers_; ++layer) {
      std::vector<int> steps, arguments;
      for (const auto &[n, b] : boxes_)
        if (b.layer == layer) (before_[n].empty() ? arguments : steps).push_back(n);
      for (int n : steps) boxes_[n].x = middle_of(before_[n]);
      place(steps);
      for (int n : arguments) boxes_[n].x = beside_sibling(n);
      steps.insert(steps.end(), arguments.begin(), arguments.end());
      place(steps);
    }
    double left = 1e9, right = 0;
    for (const auto &[n, b] : boxes_) left = std::min(left, b.x - b.width / 2);
    for (auto &[n, b] : boxes_) {
      b.x += margin - left;
      right = std::max(right, b.x + b.width / 2);
    }
    width_ = right + margin + 90;  // room for the last shape
  }

  // Moves boxes of a layer to the right until none overlap.
  void place(std::vector<int> &row) {
    std::sort(row.begin(), row.end(), [&](int a, int b) {
      return boxes_[a].x != boxes_[b].x ? boxes_[a].x < boxes_[b].x : a < b;
    });
    double right = -1e9;
    for (int n : row) {
      box &b = boxes_[n];
      b.x = std::max(b.x, right + gap + b.width / 2);
      right = b.x + b.width / 2;
    }
  }

  double middle_of(const std::vector<int> &boxes) const {
    double sum = 0;
    for (int n : boxes) sum += boxes_.at(n).x;
    return sum / static_cast<double>(boxes.size());
  }

  double beside_sibling(int n) const {
    for (const auto &way : edges_) {
      if (way.front() != n) continue;
      for (const auto &other : edges_)
        if (other.back() == way.back() && other.front() != n)
          for (int at : other)
            if (boxes_.at(at).layer == boxes_.at(n).layer && !before(at).empty())
              return boxes_.at(at).x + 130;
    }
    return 150.0 * n;
  }

  const std::vector<int> &before(int n) const {
    static const std::vector<int> none;
    auto it = before_.find(n);
    return it == before_.end() ? none : it->second;
  }

  double top(int layer) const { return margin + 26 + layer * layer_height; }

  std::string edges() const {
    std::string lines, labels;
    std::set<int> labelled;  // the output of a step has one shape, however many steps read it
    for (const std::vector<int> &way : edges_) {
      const box &first = boxes_.at(way.front());
      std::string path = fmt::format("M{:.1f} {:.1f}", first.x, top(first.layer) + box_height);
      for (std::size_t k = 1; k < way.size(); ++k) {
        const box &from = boxes_.at(way[k - 1]), &to = boxes_.at(way[k]);
        const double y1 = top(from.layer) + box_height, y2 = top(to.layer), half = (y2 - y1) / 2;
        path += fmt::format("C{0:.1f} {1:.1f} {2:.1f} {1:.1f} {2:.1f} {3:.1f}", from.x, y1 + half,
                            to.x, y2);
        if (k + 1 < way.size()) path += fmt::format("V{:.1f}", y2 + box_height);
      }
      lines += fmt::format(
          "<path d=\"{}\" fill=\"none\" stroke=\"#555\" marker-end=\"url(#tip)\"/>\n", path);
      if (!labelled.insert(way.front()).second) continue;
      // Near its beginning an edge lies apart from the others.
      const box &second = boxes_.at(way[1]);
      labels += svg::text(
          first.x + (second.x - first.x) * 0.16 + 4, top(first.layer) + box_height + 15,
          extents_text(p_, shown_shape(p_, way.front()), size_), 11, "start", "fill=\"#06c\"");
    }
    return lines + labels;
  }

  std::string drawn(node_id n, const box &b) const {
    const op k = p_[n].kind;
    const char *fill = k == op::input                           ? "#dff0df"
                       : k == op::param                         ? "#eee6fa"
                       : k == op::output                        ? "#fde9d0"
                       : k == op::dot                           ? "#d8e8fb"
                       : k == op::softmax || k == op::normalize ? "#fbdde3"
                                                                : "#f4f4f4";
    return fmt::format(
               "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:g}\" rx=\"5\" fill=\"{}\" "
               "stroke=\"#888\"/>\n",
               b.x - b.width / 2, top(b.layer), b.width, box_height, fill) +
           svg::text(b.x, top(b.layer) + 20, b.text, 13, "middle");
  }

  const program &p_;
  std::vector<std::int64_t> size_;
  std::map<int, box> boxes_;  // by step; below 0: a corner of an edge
  std::map<int, std::vector<int>> before_;
  std::vector<std::vector<int>> edges_;
  int layers_ = 0;
  double width_ = 0;
};

}  // namespace

std::string graph_svg(const program &p, const size_map &sizes) {
  return picture(p, resolve_sizes(p, sizes)).run();
}

}  // namespace qkv::codegen
