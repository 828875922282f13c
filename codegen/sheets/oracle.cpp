// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/oracle.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "codegen/program/scans.hpp"
#include "codegen/program/text.hpp"
#include "codegen/reference/compare.hpp"
#include "codegen/reference/differences.hpp"
#include "codegen/sheets/cost.hpp"
#include "codegen/sheets/describe.hpp"
#include "codegen/sheets/graph_svg.hpp"
#include "codegen/sheets/heat_map.hpp"
#include "codegen/sheets/peak.hpp"
#include "codegen/sheets/shown_steps.hpp"
#include "codegen/sheets/stage_report.hpp"

namespace qkv::codegen {
namespace {

// A program and its plan, which the first question that needs it makes.
class planned {
 public:
  explicit planned(program p) : written(std::move(p)) {}
  const plan &made() const {
    std::call_once(once_, [this] { plan_ = plan_of(written); });
    return *plan_;
  }
  const program written;

 private:
  mutable std::once_flag once_;
  mutable std::optional<plan> plan_;
};

arrays taken(const tool::arrays &from) {
  arrays to;
  for (const auto &[name, a] : from) to[name] = {a.shape, a.data};
  return to;
}

std::vector<tool::array> reference(const program &p, const arrays &arguments,
                                   const size_map &sizes) {
  arrays results = interpret(p, arguments, sizes);
  std::vector<tool::array> list;
  for (node_id n : p.outputs) {
    array &a = results.at(p[n].name);
    list.push_back({std::move(a.shape), std::move(a.data)});
  }
  return list;
}

// The same program with arguments and steps among its results.
std::vector<tool::step> trace(const program &p, const arrays &arguments, const size_map &sizes) {
  program all = p;
  all.outputs.clear();
  const std::vector<axis_id> walked = walked_axes(p);  // steps of a scan belong to one position
  std::vector<node_id> shown;
  for (node_id n = 0; n < static_cast<node_id>(p.nodes.size()); ++n) {
    const node &x = p[n];
    if (!is_shown(x) || walked[n] >= 0) continue;
    node result = x;
    result.kind = op::output;
    result.in = {x.kind == op::output ? x.in[0] : n};
    result.over.clear();
    result.name = std::to_string(shown.size());  // two steps may have one name
    shown.push_back(n);
    all.outputs.push_back(static_cast<node_id>(all.nodes.size()));
    all.nodes.push_back(std::move(result));
  }
  arrays values = interpret(all, arguments, sizes);
  std::vector<tool::step> steps;
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const node &x = p[shown[k]];
    const std::string label = x.kind == op::output ? x.name : label_of(p, shown[k]);
    array &a = values.at(std::to_string(k));
    std::vector<std::string> axes;
    for (axis_id d : x.shape) axes.push_back(p.axes[d].name);
    steps.push_back({label, axes, {std::move(a.shape), std::move(a.data)}});
  }
  return steps;
}

tool::cost cost(const program &p, const plan &made, const size_map &sizes) {
  const std::vector<std::int64_t> size = all_sizes(made.p, sizes);
  const cost_sheet c = cost_of(p, made.p, size);
  const auto amount = [&](const formula &f) {
    return tool::amount{f.text(made.p), f.value(size).value_or(0)};
  };
  formula arguments = c.read, stored;
  arguments += c.written;
  for (const stage_report &s : reports_of(made, size)) stored += s.stored;
  return {flops_left_by_masks(made.p, size).value_or(0),
          bytes_moved(made.p, size).value_or(0),
          amount(c.flops),
          amount(arguments),
          amount(c.intermediates),
          amount(stored),
          amount(peak_of(made, size).bytes),
          has_masks_of_data(made.p)};
}

tool::verdict judged(const program &p, const program &computed, const arrays &arguments,
                     const size_map &sizes, const std::vector<tool::array> &results) {
  arrays named;
  for (std::size_t k = 0; k < p.outputs.size() && k < results.size(); ++k)
    named[p[p.outputs[k]].name] = {results[k].shape, results[k].data};
  const verdict v = judge(p, arguments, sizes, named, &computed);
  return {v.right, v.error, v.allowed, v.right ? "" : v.text};
}

std::vector<tool::slope> slopes(const program &forward, const program &gradient, const arrays &all,
                                const size_map &sizes, unsigned seed) {
  std::vector<tool::slope> each;
  for (const compared_argument &c : compare_with_differences(forward, gradient, all, sizes, seed)) {
    const slope last = c.slopes.empty() ? slope{} : c.slopes.back();
    each.push_back({c.name, last.by_differences, last.by_gradient, c.wrong});
  }
  return each;
}

}  // namespace

tool::entry oracle(program from) {
  const auto k = std::make_shared<const planned>(std::move(from));
  tool::entry e;
  e.name = k->written.name;
  e.describe = [k](const tool::sizes &s) { return describe(k->written, k->made(), s); };
  e.picture = [k](const tool::sizes &s) { return graph_svg(k->made(), s); };
  e.reference = [k](const tool::arrays &a, const tool::sizes &s) {
    return reference(k->written, taken(a), s);
  };
  e.cost = [k](const tool::sizes &s) { return cost(k->written, k->made(), s); };
  e.compare = [k](const tool::arrays &a, const tool::sizes &s, const std::vector<tool::array> &r) {
    return judged(k->written, k->made().p, taken(a), s, r);
  };
  e.trace = [k](const tool::arrays &a, const tool::sizes &s) {
    return trace(k->written, taken(a), s);
  };
  e.heat_maps = heat_maps_svg;
  return e;
}

tool::entry oracle_of_gradient(program gradient, program forward) {
  const auto of = std::make_shared<const program>(gradient);
  const auto from = std::make_shared<const program>(std::move(forward));
  tool::entry e = oracle(std::move(gradient));
  e.slopes = [of, from](const tool::arrays &a, const tool::sizes &s, unsigned seed) {
    return slopes(*from, *of, taken(a), s, seed);
  };
  return e;
}

std::vector<tool::entry> oracles_of(const std::vector<traceable> &kernels) {
  std::vector<tool::entry> all;
  for (const traceable &k : kernels) {
    program p = k.trace();
    if (p.outputs.empty()) continue;
    all.push_back(k.is_gradient ? oracle_of_gradient(std::move(p), k.source())
                                : oracle(std::move(p)));
  }
  return all;
}

}  // namespace qkv::codegen
