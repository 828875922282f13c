#include "codegen/sheets/stage_report.hpp"

#include <functional>
#include <set>

#include "codegen/program/text.hpp"
#include "codegen/rewrites/rewrites.hpp"
#include "codegen/stages/queries.hpp"
#include "codegen/stages/stages.hpp"

namespace qkv::codegen {
namespace {

// The steps that a stage recomputes on the way to what it stores.
std::set<node_id> inside(const program &p, const stages &cut, const stage &s) {
  std::set<node_id> seen;
  std::function<void(node_id)> walk = [&](node_id n) {
    if (is_source(p[n].kind) || !seen.insert(n).second) return;
    for (node_id operand : p[n].in)
      if (cut.stored_by[operand] < 0) walk(operand);
  };
  for (node_id root : s.roots) walk(root);
  for (node_id root : s.roots) seen.erase(root);
  return seen;
}

}  // namespace

std::vector<stage_report> reports_of(const program &original) {
  const program p = simplified(original);
  const stages cut = cut_into_stages(p);
  std::vector<stage_report> reports;
  for (const stage &s : cut.list) {
    stage_report r;
    r.kind = name_of(s.kind);
    r.name = label_of(p, s.core < 0 ? s.roots[0] : s.core);
    for (node_id root : s.roots) r.stores.push_back(label_of(p, root));
    for (node_id n : inside(p, cut, s)) {
      // of an attention: what exists per query and key
      const bool pair = s.kind == stage_kind::attention && has(p[n].shape, s.key) &&
                        (s.row == no_axis || has(p[n].shape, s.row));
      if (pair && n != s.core && !is_view(p[n].kind) && is_floating(p[n].type))
        r.never_stored.push_back(label_of(p, n));
      if (n == s.next) r.never_stored.push_back(label_of(p, n) + ", at every position");
    }
    reports.push_back(std::move(r));
  }
  return reports;
}

}  // namespace qkv::codegen
