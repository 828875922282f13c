// SPDX-License-Identifier: BSL-1.0
#include "codegen/sheets/shown_steps.hpp"

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

bool is_shown(const node &n) {
  const bool is_argument = n.kind == op::input || n.kind == op::param;
  return is_argument || n.kind == op::output || (!is_source(n.kind) && !n.shape.empty());
}

std::vector<axis_id> shown_shape(const program &p, node_id n) {
  const std::vector<axis_id> &declared = p[n].shape;
  const op k = p[n].kind;
  if (k == op::input || k == op::param || k == op::output) return declared;
  std::vector<axis_id> s;
  for (const bool batch : {true, false})
    for (axis_id a : declared)
      if (p.axes[a].batch == batch) s.push_back(a);
  return s;
}

std::string extents_text(const program &p, const std::vector<axis_id> &shape,
                         const std::vector<std::int64_t> &size) {
  std::string text = "(";
  for (std::size_t k = 0; k < shape.size(); ++k)
    text += (k ? "," : "") +
            (size[shape[k]] >= 0 ? std::to_string(size[shape[k]]) : p.axes[shape[k]].name);
  return text + ")";
}

}  // namespace qkv::codegen
