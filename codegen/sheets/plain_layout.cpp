// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <vector>

#include "codegen/sheets/graph_layout.hpp"

namespace qkv::codegen {
namespace {

constexpr double layer_height = box_height + 42, gap = 26;

// A box, or an empty one that keeps the way of an arrow free where it passes a layer.
struct place {
  int layer = 0;
  double x = 0, width = 8;
  std::vector<std::size_t> before;  // places of a layer above that arrows come from
};

class placing {
 public:
  explicit placing(const pipeline_graph &g) : g_(g) {
    for (const pipeline_box &b : g.boxes) places_.push_back({0, 0, width_of(b), {}});
  }

  graph_layout run() {
    choose_layers();
    make_ways();
    arrange();
    graph_layout l;
    double left = 0, right = 0;
    for (const place &p : places_) {
      left = std::min(left, p.x - p.width / 2);
      right = std::max(right, p.x + p.width / 2);
    }
    for (place &p : places_) p.x += frame_margin - left;
    for (std::size_t k = 0; k < g_.boxes.size(); ++k)
      l.boxes.push_back({places_[k].x, middle(places_[k].layer)});
    for (const std::vector<std::size_t> &way : ways_) l.arrows.push_back(curve(way));
    l.width = right - left + 2 * frame_margin;
    l.height = middle(layers_ - 1) + box_height / 2 + frame_margin;
    return l;
  }

 private:
  // The layers of a stage begin below those of the stage before, after one for the arguments that
  // it is the first to read.
  void choose_layers() {
    std::vector<bool> is_read(g_.boxes.size());
    for (int s = 0; s < static_cast<int>(g_.stages.size()); ++s) {
      const int first = layers_ + 1;
      layers_ = first;
      for (std::size_t k = 0; k < g_.boxes.size(); ++k) {
        if (g_.boxes[k].stage != s) continue;
        places_[k].layer = first;
        for (const auto &[from, to] : g_.arrows)
          if (to == static_cast<int>(k) && g_.boxes[from].stage == s)
            places_[k].layer = std::max(places_[k].layer, places_[from].layer + 1);
        layers_ = std::max(layers_, places_[k].layer + 1);
      }
      for (const auto &[from, to] : g_.arrows)
        if (g_.boxes[to].stage == s && g_.boxes[from].stage < 0 && !is_read[from]) {
          is_read[from] = true;
          places_[from].layer = first - 1;
        }
    }
    layers_ = std::max(layers_, 1);
  }

  void make_ways() {
    for (const auto &[from, to] : g_.arrows) {
      std::vector<std::size_t> way = {static_cast<std::size_t>(from)};
      for (int layer = places_[from].layer + 1; layer < places_[to].layer; ++layer) {
        place corner;
        corner.layer = layer;
        corner.before = {way.back()};
        way.push_back(places_.size());
        places_.push_back(corner);
      }
      places_[to].before.push_back(way.back());
      way.push_back(static_cast<std::size_t>(to));
      ways_.push_back(std::move(way));
    }
  }

  // From the top: what has operands lies below the middle of them, arguments are added at the
  // right.
  void arrange() {
    std::vector<std::vector<std::size_t>> rows(static_cast<std::size_t>(layers_));
    for (std::size_t k = 0; k < places_.size(); ++k)
      rows[static_cast<std::size_t>(places_[k].layer)].push_back(k);
    for (std::vector<std::size_t> &row : rows) {
      double last = 0;
      for (std::size_t k : row) {
        place &p = places_[k];
        if (p.before.empty()) {
          p.x = last + gap + p.width / 2;
        } else {
          p.x = 0;
          for (std::size_t b : p.before) p.x += places_[b].x / static_cast<double>(p.before.size());
        }
        last = p.x + p.width / 2;
      }
      push_apart(row);
    }
  }

  void push_apart(std::vector<std::size_t> &row) {
    std::stable_sort(row.begin(), row.end(),
                     [&](std::size_t a, std::size_t b) { return places_[a].x < places_[b].x; });
    double right = -1e9;
    for (std::size_t k : row) {
      place &p = places_[k];
      p.x = std::max(p.x, right + gap + p.width / 2);
      right = p.x + p.width / 2;
    }
  }

  std::vector<point> curve(const std::vector<std::size_t> &way) const {
    std::vector<point> points = {lower(way.front())};
    for (std::size_t k = 1; k < way.size(); ++k) {
      const point from = lower(way[k - 1]), to = upper(way[k]);
      const double half = (from.y + to.y) / 2;
      points.insert(points.end(), {{from.x, half}, {to.x, half}, to});
      if (k + 1 < way.size()) points.insert(points.end(), {to, lower(way[k]), lower(way[k])});
    }
    return points;
  }

  static double middle(int layer) {
    return frame_margin + title_height + box_height / 2 + layer * layer_height;
  }
  point lower(std::size_t k) const {
    return {places_[k].x, middle(places_[k].layer) + box_height / 2};
  }
  point upper(std::size_t k) const {
    return {places_[k].x, middle(places_[k].layer) - box_height / 2};
  }

  const pipeline_graph &g_;
  std::vector<place> places_;  // boxes first
  std::vector<std::vector<std::size_t>> ways_;
  int layers_ = 0;
};

}  // namespace

graph_layout plain_layout(const pipeline_graph &g) { return placing(g).run(); }

}  // namespace qkv::codegen
