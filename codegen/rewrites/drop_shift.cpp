// Before: softmax<kv>(s - max<kv>(s))     After: softmax<kv>(s)
// Softmax does not see what is constant along its axes, and it subtracts the maximum itself. Written out, the maximum
// would have to be known before the first key, and the scores would have to be stored.
#include <algorithm>

#include "codegen/rewrites/rebuild.hpp"
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {
namespace {

// mask() removes positions: what depends on one says more than its number.
bool may_be_absent(const program &p, node_id n) {
  const op kind = p[n].kind;
  if (kind == op::mask) return true;
  if (!is_pointwise(kind) && !is_view(kind)) return false;
  return std::any_of(p[n].in.begin(), p[n].in.end(),
                     [&](node_id operand) { return may_be_absent(p, operand); });
}

bool varies_along(const program &p, node_id n, const std::vector<axis_id> &axes) {
  const auto &shape = p[n].shape;
  return std::any_of(axes.begin(), axes.end(), [&](axis_id a) {
    return std::find(shape.begin(), shape.end(), a) != shape.end();
  });
}

}  // namespace

program drop_shift(const program &p) {
  rebuild r(p);
  return r.run([&](node n) -> node_id {
    while (n.kind == op::softmax) {
      const node &x = r.to()[n.in[0]];
      const bool shifted = (x.kind == op::sub || x.kind == op::add) && x.type == f32;
      if (!shifted || r.to()[x.in[0]].shape != x.shape || varies_along(r.to(), x.in[1], n.over) ||
          may_be_absent(r.to(), x.in[1]))
        break;
      n.in[0] = x.in[0];
    }
    return r.put(std::move(n));
  });
}

}  // namespace qkv::codegen
