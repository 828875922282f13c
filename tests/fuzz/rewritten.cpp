// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/rewritten.hpp"

#include <algorithm>
#include <exception>

#include "codegen/rewrites/rewrites.hpp"
#include "codegen/sheets/cost.hpp"
#include "codegen/sheets/describe.hpp"
#include "codegen/sheets/graph_svg.hpp"
#include "codegen/sheets/shape_trace.hpp"

namespace qkv::fuzz {

using codegen::program;

std::vector<rewrite> all_rewrites() {
  return {{"widen", codegen::widen},
          {"hoist_from_scan", codegen::hoist_from_scan},
          {"merge_common_steps", codegen::merge_common_steps},
          {"fold_constants", codegen::fold_constants},
          {"drop_shift", codegen::drop_shift},
          {"close_softmax", codegen::close_softmax},
          {"walk_prefix_sums", codegen::walk_prefix_sums},
          {"join_softplus", codegen::join_softplus},
          {"distribute_weights", codegen::distribute_weights},
          {"order_contractions", codegen::order_contractions},
          {"fold_scale", codegen::fold_scale},
          {"merge_common_steps again", codegen::merge_common_steps},
          {"put_first", codegen::put_first},
          {"split_sums", codegen::split_sums},
          {"sum_batches_last", codegen::sum_batches_last}};
}

std::string wrong_rewrite(const program &p, const meaning &m, const std::vector<rewrite> &rewrites,
                          program *after) {
  program now = p;
  for (const rewrite &r : rewrites) {
    try {
      now = r.run(now);
      if (std::count(now.arguments.begin(), now.arguments.end(), -1))
        return r.name + ": an argument is lost";
      const std::string wrong = m.differs(in_double(now, m.arguments(), m.sizes()));
      if (!wrong.empty()) return r.name + ": " + wrong;
    } catch (const std::exception &e) {
      return r.name + " throws: " + e.what();
    }
  }
  if (after) *after = std::move(now);
  return "";
}

std::string wrong_sheets(const program &p, const codegen::size_map &sizes) {
  try {
    const codegen::plan made = codegen::plan_of(p);
    for (const codegen::size_map &s : {codegen::size_map{}, sizes}) {
      if (codegen::describe(p, made, s).empty()) return "sheet: nothing is said";
      if (codegen::graph_svg(made, s, codegen::layout_by::ourselves).find("</svg>") ==
          std::string::npos)
        return "picture: no end";
    }
    const auto size = codegen::all_sizes(p, sizes);
    if (codegen::shape_trace(p, p.outputs.back(), size).empty())
      return "shape trace: nothing is said";
    if (const auto left = codegen::flops_left_by_masks(made.p, size); left && !(*left >= 0))
      return "sheet: negative cost";
    return "";
  } catch (const std::exception &e) {
    return std::string("sheet: ") + e.what();
  }
}

}  // namespace qkv::fuzz
