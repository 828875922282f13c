// SPDX-License-Identifier: BSL-1.0
// Pictures of pipelines: boxes, frames and titles of stages never overlap, with Graphviz and
// without.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <qkv/dsl.hpp>
#include <string>
#include <vector>

#include "codegen/gradient/gradient.hpp"
#include "codegen/sheets/graph_layout.hpp"
#include "codegen/sheets/graph_svg.hpp"
#include "tests/catch.hpp"
#include "tests/support/meaning.hpp"

namespace qkv::testing {
namespace {

using codegen::graph_layout;
using codegen::layout_by;
using codegen::make_program;
using codegen::pipeline_graph;
using codegen::plan_of;
using codegen::program;
using codegen::rectangle;

constexpr batch_axis<"batch"> batch;
constexpr batch_axis<"heads", 8> heads;
constexpr axis<"seq"> seq;
constexpr alias<"kv", seq> kv;
constexpr axis<"d_model", 512> d_model;
constexpr axis<"d_k", 64> d_k;
constexpr axis<"d_v", 64> d_v;

constexpr auto layer =
    kernel<"layer">([](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d_k> Wq,
                       param<"Wk", d_model, heads, d_k> Wk, param<"Wv", d_model, heads, d_v> Wv,
                       param<"Wo", heads, d_v, d_model> Wo) -> out<"Y", batch, seq, d_model> {
      auto M = rename<seq, kv>(X);
      auto Q = dot<d_model>(X, Wq);
      auto K = dot<d_model>(M, Wk);
      auto V = dot<d_model>(M, Wv);
      auto scores = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) <= index(seq));
      return X + dot<heads, d_v>(dot<kv>(softmax<kv>(scores), V), Wo);
    });

constexpr auto either_way = kernel<"either_way">(
    [](in<"Q", seq, d_k> Q, in<"K", kv, d_k> K, in<"V", kv, d_v> V) -> out<"O", seq, d_v> {
      return dot<kv>(dot<d_k>(elu(Q) + 1, elu(K) + 1), V);
    });

constexpr auto sides = kernel<"sides">([](in<"X", seq> X) -> out<"Y", seq> { return (5 - X) / 2; });

constexpr auto narrow = kernel<"narrow">(
    [](in<"X", seq, d_k> X, in<"A", d_k, d_v> A) -> out<"Y", seq, d_v> { return dot<d_k>(X, A); });

std::vector<program> programs() {
  const program p = make_program(layer);
  return {p, make_program(either_way), make_program(sides), make_program(narrow),
          codegen::gradient(p)};
}

bool overlap(const rectangle &a, const rectangle &b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// The pairs that overlap, as text.
std::string overlaps(const pipeline_graph &g, const graph_layout &l) {
  std::string all;
  for (std::size_t a = 0; a < g.boxes.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (overlap(rectangle_of(g, l, a), rectangle_of(g, l, b)))
        all += fmt::format("{} and {}\n", g.boxes[a].label, g.boxes[b].label);
  for (int s = 0; s < static_cast<int>(g.stages.size()); ++s) {
    for (std::size_t k = 0; k < g.boxes.size(); ++k)
      if (g.boxes[k].stage != s && overlap(frame_of(g, l, s), rectangle_of(g, l, k)))
        all += fmt::format("stage {} and {}\n", s, g.boxes[k].label);
    for (int t = 0; t < s; ++t)
      if (overlap(frame_of(g, l, s), frame_of(g, l, t)))
        all += fmt::format("stages {} and {}\n", s, t);
  }
  return all;
}

// The labels of boxes and stages beyond the page.
std::string outside(const pipeline_graph &g, const graph_layout &l) {
  std::string all;
  const auto is_outside = [&](const rectangle &r) {
    return r.left < -1 || r.top < -1 || r.right > l.width + 1 || r.bottom > l.height + 1;
  };
  for (std::size_t k = 0; k < g.boxes.size(); ++k)
    if (is_outside(rectangle_of(g, l, k))) all += g.boxes[k].label + "\n";
  for (int s = 0; s < static_cast<int>(g.stages.size()); ++s)
    if (is_outside(frame_of(g, l, s))) all += fmt::format("stage {}\n", s);
  return all;
}

pipeline_graph graph_of(const program &p) {
  const codegen::plan made = plan_of(p);
  return codegen::graph_of(made, codegen::resolve_sizes(made.p, {}));
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("pictures: nothing overlaps in a layout of our own") {
  for (const program &p : programs()) {
    const pipeline_graph g = graph_of(p);
    const graph_layout l = codegen::plain_layout(g);
    INFO(p.name);
    CHECK(overlaps(g, l) == "");
    CHECK(outside(g, l) == "");
  }
}

TEST_CASE("pictures: nothing overlaps in a layout by Graphviz") {
  for (const program &p : programs()) {
    const pipeline_graph g = graph_of(p);
    const auto l = codegen::graphviz_layout(g);
    if (!l) {
      std::printf("[SKIP] Graphviz is not installed\n");
      return;
    }
    INFO(p.name);
    CHECK(overlaps(g, *l) == "");
    CHECK(outside(g, *l) == "");
  }
}

TEST_CASE("pictures: boxes that overlap are found") {
  const pipeline_graph g = graph_of(make_program(sides));
  graph_layout l = codegen::plain_layout(g);
  l.boxes[1] = l.boxes[0];
  CHECK(overlaps(g, l) != "");
}

TEST_CASE("pictures: every arrow goes from an operand to its user, and none is lost") {
  const program p = make_program(layer);
  const codegen::plan made = plan_of(p);
  const pipeline_graph g = graph_of(p);
  for (const auto &[from, to] : g.arrows) {
    const auto &in = made.p[g.boxes[static_cast<std::size_t>(to)].step].in;
    CHECK(std::count(in.begin(), in.end(), g.boxes[static_cast<std::size_t>(from)].step) > 0);
  }
  for (std::size_t k = 0; k < g.boxes.size(); ++k) {
    const bool is_read = std::any_of(g.arrows.begin(), g.arrows.end(), [&](const auto &arrow) {
      return arrow.first == static_cast<int>(k);
    });
    CHECK(is_read == (g.boxes[k].label != "Y"));
  }
}

TEST_CASE("pictures: shapes, dashes and words for those who do not see them") {
  const program p = make_program(layer);
  for (const layout_by by : {layout_by::graphviz, layout_by::ourselves}) {
    const std::string svg = codegen::graph_svg(plan_of(p), {{"batch", 1}, {"seq", 4}}, by);
    CHECK(contains(svg, "<svg xmlns="));
    CHECK(contains(svg, "<title>Pipeline of layer</title>"));
    CHECK(contains(svg, "prefers-color-scheme:dark"));
    CHECK(contains(svg, ">(1,8,4,4)<"));
    CHECK(contains(svg, ">softmax&lt;kv&gt;<"));
    CHECK(contains(svg, "never stored, attention</title><rect class=\"box weights never\""));
    CHECK(contains(codegen::graph_svg(plan_of(p), {}, by), ">(batch,8,seq,kv)<"));
  }
}

TEST_CASE("pictures: a number stands on its side of the operation") {
  const std::string svg = codegen::graph_svg(plan_of(make_program(sides)));
  CHECK(contains(svg, ">5 -<"));
  CHECK(contains(svg, ">* 0.5<"));
}

}  // namespace qkv::testing
