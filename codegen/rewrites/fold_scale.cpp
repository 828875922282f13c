// Before: dot<d_k>(Q, K) * 0.125     After: dot<d_k>(Q * 0.125, K), or on K when that is the smaller operand.
// Never on a param: those are packed once and read as they are.
#include <algorithm>

#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// Counted in axes decided at the call: a weight is smaller than an activation, one row smaller than many.
int run_time_axes(const program &p, const node &n) {
  return static_cast<int>(
      std::count_if(n.shape.begin(), n.shape.end(), [&](axis_id a) { return p.axes[a].size < 0; }));
}

// Scaled, they would no longer be weights.
bool is_weights(const node &n) { return n.kind == op::softmax || n.kind == op::normalize; }

}  // namespace

program fold_scale(const program &p) {
  std::vector<int> users(p.nodes.size(), 0);
  for (const node &n : p.nodes)
    for (node_id operand : n.in) ++users[operand];

  // scale[d]: the factor that the only user of contraction d multiplies it with
  std::vector<double> scale(p.nodes.size(), 1);
  std::vector<bool> absorbed(p.nodes.size(), false);
  for (std::size_t k = 0; k < p.nodes.size(); ++k) {
    const node &n = p.nodes[k];
    if (n.kind != op::mul || !is_floating(n.type) || p[n.in[1]].kind != op::number) continue;
    node_id d = n.in[0];
    while (absorbed[d] && users[d] == 1) d = p[d].in[0];
    if (p[d].kind != op::dot || users[n.in[0]] != 1 || users[d] != 1) continue;
    if (is_weights(p[p[d].in[0]]) || is_weights(p[p[d].in[1]])) continue;
    const double next = scale[d] * p[n.in[1]].value;
    if (!std::isnormal(static_cast<float>(next))) continue;
    scale[d] = next;
    absorbed[k] = true;
  }

  rebuild r(p);
  node_id at = 0;
  return r.run([&](node n) -> node_id {
    const node_id here = at++;
    if (absorbed[here]) return n.in[0];
    if (n.kind == op::dot && scale[here] != 1) {
      const node &left = r.to()[n.in[0]], &right = r.to()[n.in[1]];
      const bool smaller = run_time_axes(r.to(), right) < run_time_axes(r.to(), left);
      const int side = left.kind == op::param || (smaller && right.kind != op::param) ? 1 : 0;
      node scaled;
      scaled.kind = op::mul;
      scaled.type = n.type;
      scaled.shape = r.to()[n.in[side]].shape;
      scaled.in = {n.in[side], r.number(scale[here], n.type)};
      n.in[side] = r.put(std::move(scaled));
    }
    return r.put(std::move(n));
  });
}

}  // namespace qkv::codegen
