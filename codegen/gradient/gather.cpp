// SPDX-License-Identifier: BSL-1.0
// take and concat.
#include "codegen/gradient/rules.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen::adjoint {
namespace {

// Each row of the table gets the sum of what was taken from it.
void take_rule(reverse &r, node_id n, node_id g) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const axis_id along = x.over[0];
  const axes &table = r.forward[x.in[0]].shape;
  node_id position = r.forward_values.value(x.in[1]);
  if (has(f.shape(position), along)) {  // rows of the result, of another meaning than the table's
    const axis_id own = f.twin_of(along);
    const auto renamed = [&](node_id y) {
      axes shape = f.shape(y);
      std::replace(shape.begin(), shape.end(), along, own);
      return f.view(op::rename, y, {along, own}, shape);
    };
    position = renamed(position), g = renamed(g);
  }
  r.give(x.in[0], f.put_at(g, position, along, table));
}

// The part of g that lies behind `from`, along the whole of a concat, for the operand that has
// `part`.
void give_part(reverse &r, node_id n, node_id g, node_id operand, axis_id part, node_id from) {
  formulas &f = r.f;
  const node &x = r.forward[n];
  const axes &wanted = r.forward[operand].shape;
  // An axis of that name which the other operand has is another one.
  const axis_id own = has(x.shape, part) ? f.twin_of(part) : part;
  const auto replaced = [](axes shape, axis_id of, axis_id by) {
    std::replace(shape.begin(), shape.end(), of, by);
    return shape;
  };
  const node_id position = f.binary(op::add, f.index(own), from);
  const axes shape = replaced(x.shape, x.over[0], own);
  node_id taken = f.gather(g, position, x.over[0], shape);
  taken = f.reduce(op::sum, taken, without(shape, replaced(wanted, part, own)));
  if (own != part)
    taken = f.view(op::rename, taken, {own, part}, replaced(f.shape(taken), own, part));
  r.give(operand, taken);
}

}  // namespace

void gather_rule(reverse &r, node_id n, node_id g) {
  const node &x = r.forward[n];
  if (x.kind == op::take) return take_rule(r, n, g);
  const axis_id first = x.over[1], second = x.over.back();
  if (r.wants(x.in[0])) give_part(r, n, g, x.in[0], first, r.f.number(0, i32));
  if (r.wants(x.in[1])) give_part(r, n, g, x.in[1], second, r.f.size(first));
}

}  // namespace qkv::codegen::adjoint
