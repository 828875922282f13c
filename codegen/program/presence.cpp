// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/presence.hpp"

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

node_id presence::of(node_id n) {
  if (const auto it = known_.find(n); it != known_.end()) return it->second;
  const node_id where = found(n);
  return known_[n] = where;
}

node_id presence::filled(node_id n) {
  const node_id here = of(n);
  return here == everywhere ? n : f_.where(here, n, f_.number(0, f_.type(n)));
}

node_id presence::limited(node_id n, node_id where) {
  return where == everywhere || are_same(of(n), where) ? n : f_.mask(n, where);
}

node_id presence::sum(node_id a, node_id b) {
  const node_id of_a = of(a), of_b = of(b);
  if (of_a == of_b) return f_.add(a, b);
  const node_id added = f_.add(filled(a), filled(b));
  if (of_a == everywhere || of_b == everywhere) return added;
  return f_.mask(added, f_.binary(op::or_, of_a, of_b));
}

bool presence::are_same(node_id a, node_id b) const {
  if (a == everywhere || b == everywhere) return a == b;
  return f_.unexpanded(a) == f_.unexpanded(b);
}

node_id presence::both(node_id a, node_id b) {
  if (b == everywhere || are_same(a, b)) return a;
  return a == everywhere ? b : f_.binary(op::and_, a, b);
}

node_id presence::found(node_id n) {
  const node x = f_.written()[n];  // a copy: steps are added
  if (x.kind == op::mask) return both(of(x.in[0]), filled(x.in[1]));
  if (x.kind == op::where) return of_choice(x);
  if (is_pointwise(x.kind)) {
    node_id here = everywhere;
    for (node_id operand : x.in) here = both(here, of(operand));
    return here;
  }
  if (x.kind == op::element) return everywhere;  // of what has no gaps: see scan.cpp
  if (is_view(x.kind)) return of_view(x);
  if (is_gather(x.kind)) return of_gather(x);
  return everywhere;
}

node_id presence::of_choice(const node &x) {
  const node_id a = of(x.in[1]), b = of(x.in[2]);
  if (a == b) return both(a, of(x.in[0]));
  const auto or_true = [&](node_id here) { return here == everywhere ? f_.number(1, b8) : here; };
  return both(f_.where(filled(x.in[0]), or_true(a), or_true(b)), of(x.in[0]));
}

node_id presence::of_view(const node &x) {
  const node_id here = of(x.in[0]);
  if (here == everywhere) return everywhere;
  return f_.view(x.kind, f_.expand(here, f_.shape(x.in[0])), x.over, x.shape);
}

node_id presence::of_gather(const node &x) {
  const node_id a = of(x.in[0]), b = of(x.in[1]);
  if (x.kind == op::take) {
    if (a == everywhere) return b;
    const node_id table = f_.expand(a, f_.shape(x.in[0]));
    return both(f_.gather(table, filled(x.in[1]), x.over[0], x.shape), b);
  }
  if (a == everywhere && b == everywhere) return everywhere;
  node joined = x;
  joined.type = b8;
  for (const std::size_t k : {0, 1}) {
    const node_id here = k == 0 ? a : b;
    joined.in[k] = f_.expand(here == everywhere ? f_.number(1, b8) : here, f_.shape(x.in[k]));
  }
  return f_.put(std::move(joined));
}

}  // namespace qkv::codegen
