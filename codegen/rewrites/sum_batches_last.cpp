// SPDX-License-Identifier: BSL-1.0
// Before: dot<batch, seq>(scan<seq>(..), X)     After: sum<batch>(dot<seq>(scan<seq>(..), X))
// where the scan is run by chunks, of which each has one position of a batch.
#include <algorithm>
#include <vector>

#include "codegen/program/queries.hpp"
#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {

program sum_batches_last(const program &p) {
  std::vector<bool> of_scans;
  for (const node &x : p.nodes)
    of_scans.push_back(x.kind == op::scan || std::any_of(x.in.begin(), x.in.end(),
                                                         [&](node_id m) { return of_scans[m]; }));
  rebuild r(p);
  node_id at = 0;
  return r.run([&](node x) {
    const bool is_of_scan = of_scans[at++];
    std::vector<axis_id> outer;
    for (axis_id a : x.over)
      if (p.axes[a].batch) outer.push_back(a);
    if ((x.kind != op::sum && x.kind != op::dot) || !is_of_scan || outer.empty() ||
        outer.size() == x.over.size())
      return r.put(std::move(x));
    node whole = x;
    whole.kind = op::sum;
    whole.over = outer;
    x.over = without(x.over, outer);
    x.shape = with(outer, x.shape);
    whole.in = {r.put(std::move(x))};
    return r.put(std::move(whole));
  });
}

}  // namespace qkv::codegen
