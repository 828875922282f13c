// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/pipeline_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/program/text.hpp"
#include "codegen/sheets/shown_steps.hpp"
#include "codegen/sheets/stage_report.hpp"

namespace qkv::codegen {
namespace {

constexpr std::size_t longest_label = 44;

bool is_argument(op k) { return k == op::input || k == op::param; }

class builder {
 public:
  builder(const plan &made, const std::vector<std::int64_t> &size)
      : made_(made), p_(made.p), size_(size) {
    for (const node &n : p_.nodes)
      constant_.push_back(
          !is_argument(n.kind) && n.kind != op::output &&
          std::all_of(n.in.begin(), n.in.end(), [&](node_id o) { return is_constant(o); }));
  }

  pipeline_graph run() {
    graph_.name = p_.name;
    for (node_id n : p_.arguments)
      if (n >= 0 && is_used(n)) add(n, -1);
    for (const stage &s : made_.cut.list) {
      const int index = static_cast<int>(graph_.stages.size());
      graph_.stages.emplace_back(name_of(s));
      for (node_id n : computed_in(made_, s))
        if (!is_constant(n)) add(n, index);
    }
    for (std::size_t k = 0; k < graph_.boxes.size(); ++k) point_at(static_cast<int>(k));
    return std::move(graph_);
  }

 private:
  bool is_used(node_id n) const {
    return std::any_of(p_.nodes.begin(), p_.nodes.end(), [&](const node &user) {
      return std::find(user.in.begin(), user.in.end(), n) != user.in.end();
    });
  }

  bool is_constant(node_id n) const { return constant_[static_cast<std::size_t>(n)]; }

  void add(node_id n, int stage) {
    const bool is_stored = stage < 0 || made_.cut.stored_by[n] == stage;
    box_of_[{n, stage}] = static_cast<int>(graph_.boxes.size());
    const std::string where = stage < 0   ? std::string(name_of(p_[n].kind))
                              : is_stored ? "stored by " + graph_.stages[stage]
                                          : "never stored, " + graph_.stages[stage];
    graph_.boxes.push_back(
        {n, stage, is_stored, shortened(operation(n)),
         shortened(extents_text(p_, shown_shape(p_, n), size_)),
         fmt::format("{} {}, {}", label_of(p_, n), shape_of(p_, shown_shape(p_, n)), where)});
  }

  // From the boxes of the operands: each is in this stage, or stored by another, or an argument.
  void point_at(int k) {
    const auto [n, stage] = std::pair(graph_.boxes[k].step, graph_.boxes[k].stage);
    if (stage < 0) return;
    for (node_id operand : p_[n].in) {
      auto from = box_of_.find({operand, stage});
      if (from == box_of_.end()) from = box_of_.find({operand, made_.cut.stored_by[operand]});
      if (from == box_of_.end()) continue;  // a constant
      const std::pair<int, int> arrow{from->second, k};
      if (std::find(graph_.arrows.begin(), graph_.arrows.end(), arrow) == graph_.arrows.end())
        graph_.arrows.push_back(arrow);
    }
  }

  std::string operation(node_id id) const {
    const node &n = p_[id];
    if (is_argument(n.kind) || n.kind == op::output) return n.name;
    std::string text(name_of(n.kind));
    if (!n.over.empty()) text += fmt::format("<{}>", names_of(p_, n.over));
    for (std::size_t k = 0; k < n.in.size(); ++k) {
      if (!is_constant(n.in[k])) continue;
      const std::string label = label_of(p_, n.in[k]);
      // "5 -" is not "- 5"
      text = k == 0 && n.in.size() == 2 ? fmt::format("{} {}", label, text)
                                        : fmt::format("{} {}", text, label);
    }
    return n.name.empty() ? text : fmt::format("{}: {}", n.name, text);
  }

  static std::string shortened(std::string text) {
    if (text.size() > longest_label) text = text.substr(0, longest_label - 3) + "...";
    return text;
  }

  const plan &made_;
  const program &p_;
  const std::vector<std::int64_t> &size_;
  std::vector<bool> constant_;  // made of numbers and positions alone
  pipeline_graph graph_;
  std::map<std::pair<node_id, int>, int> box_of_;  // by step and stage
};

}  // namespace

pipeline_graph graph_of(const plan &made, const std::vector<std::int64_t> &size) {
  return builder(made, size).run();
}

}  // namespace qkv::codegen
