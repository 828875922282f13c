#include "codegen/sheets/graph_svg.hpp"

#include <algorithm>
#include <map>

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
    arrange();
    std::string body =
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
        "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n";
    body += svg::text(margin, margin + 4, p_.name, 16, "start", "font-weight=\"bold\"");
    body += edges();
    for (const auto &[n, b] : boxes_) body += drawn(n, b);
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
    for (node_id operand : n.in)
      if (is_constant(operand)) text += fmt::format(" {}", label_of(p_, operand));
    return n.name.empty() ? text : fmt::format("{}: {}", n.name, text);
  }

  // An argument stands just above its first user.
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

  // Layer by layer from the top: each box as near as possible to the middle of its operands.
  void arrange() {
    double widest = 0;
    for (int layer = 0; layer < layers_; ++layer) {
      std::vector<std::pair<double, node_id>> row;
      for (const auto &[n, b] : boxes_)
        if (b.layer == layer) row.emplace_back(wanted(n), n);
      std::stable_sort(row.begin(), row.end(),
                       [](const auto &a, const auto &b) { return a.first < b.first; });
      double right = -1e9;
      for (const auto &[want, n] : row) {
        box &b = boxes_[n];
        b.x = std::max(want, right + gap + b.width / 2);
        right = b.x + b.width / 2;
      }
    }
    double left = 1e9;
    for (const auto &[n, b] : boxes_) left = std::min(left, b.x - b.width / 2);
    for (auto &[n, b] : boxes_) {
      b.x += margin - left;
      widest = std::max(widest, b.x + b.width / 2);
    }
    width_ = widest + margin + 90;  // room for the last shape
  }

  double wanted(node_id n) const {
    double sum = 0;
    int count = 0;
    for (node_id operand : p_[n].in)
      if (auto it = boxes_.find(operand);
          it != boxes_.end() && it->second.layer < boxes_.at(n).layer)
        sum += it->second.x, ++count;
    if (count) return sum / count;
    // An argument: where its first user's other operands are, else in the order of the signature.
    for (const auto &[user, b] : boxes_)
      for (node_id operand : p_[user].in) {
        const auto &in = p_[user].in;
        if (operand == n || std::find(in.begin(), in.end(), n) == in.end()) continue;
        if (auto it = boxes_.find(operand);
            it != boxes_.end() && it->second.layer < boxes_.at(n).layer)
          return it->second.x + 150;
      }
    return 150.0 * n;
  }

  double top(int layer) const { return margin + 26 + layer * layer_height; }

  std::string edges() const {
    std::string lines, labels;
    for (const auto &[n, b] : boxes_)
      for (node_id operand : p_[n].in) {
        auto it = boxes_.find(operand);
        if (it == boxes_.end()) continue;
        const box &from = it->second;
        const double y1 = top(from.layer) + box_height, y2 = top(b.layer), bend = (y2 - y1) / 2;
        lines += fmt::format(
            "<path d=\"M{0:.1f} {1:.1f}C{0:.1f} {2:.1f} {3:.1f} {4:.1f} {3:.1f} {5:.1f}\" fill=\"none\" "
            "stroke=\"#555\" marker-end=\"url(#tip)\"/>\n",
            from.x, y1, y1 + bend, b.x, y2 - bend, y2);
        // Near its beginning an edge lies apart from the others.
        labels += svg::text(from.x + (b.x - from.x) * 0.16 + 4, y1 + 15,
                            extents_text(p_, shown_shape(p_, operand), size_), 11, "start",
                            "fill=\"#06c\"");
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
  std::map<node_id, box> boxes_;
  int layers_ = 0;
  double width_ = 0;
};

}  // namespace

std::string graph_svg(const program &p, const size_map &sizes) {
  return picture(p, resolve_sizes(p, sizes)).run();
}

}  // namespace qkv::codegen
