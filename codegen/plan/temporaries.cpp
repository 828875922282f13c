// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/temporaries.hpp"

#include <algorithm>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

int folds_of(const program &p, const std::vector<bool> &masked, node_id n) {
  const op kind = p[n].kind;
  const bool has_two =
      kind == op::softmax || kind == op::logsumexp || (kind == op::mean && masked[p[n].in[0]]);
  return has_two ? 2 : 1;
}

scan_table::scan_table(const program &p, const scan_stage &s) : p_(p), s_(s) {
  std::vector<axis_id> all = p[s.carried].shape;
  for (node_id n : s.body) {
    all = with(std::move(all), p[n].shape);
    const op k = p[n].kind;
    if (is_source(k) || k == op::element || k == op::broadcast) continue;
    rows = with(std::move(rows), p[n].over);
  }
  columns = without(all, rows);
}

std::vector<axis_id> scan_table::rows_of(const std::vector<axis_id> &shape) const {
  std::vector<axis_id> some;
  for (axis_id a : shape)
    if (has(rows, a)) some.push_back(a);
  return some;
}

std::vector<std::vector<axis_id>> scan_table::blocks(const std::vector<bool> &masked) const {
  const std::vector<axis_id> state = rows_of(p_[s_.carried].shape);
  std::vector<std::vector<axis_id>> all = {state, state};
  for (node_id n : s_.body) {
    const node &x = p_[n];
    if (is_inlinable(p_, n)) continue;
    if (x.kind == op::cumsum)
      all.push_back(rows_of(x.shape));
    else
      all.insert(all.end(), static_cast<std::size_t>(folds_of(p_, masked, n)),
                 rows_of(without(x.shape, x.over)));
  }
  for (node_id core : s_.cores)
    if (p_[core].kind == op::scan)
      all.push_back(with(rows_of(p_[p_[core].in.back()].shape), p_[core].over));
  return all;
}

}  // namespace qkv::codegen
