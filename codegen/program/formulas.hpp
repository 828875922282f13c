// SPDX-License-Identifier: BSL-1.0
#pragma once
// Appends steps to a program: those that are derived from others are written with these. Equal
// steps become one.
#include <map>
#include <vector>

#include "codegen/program/step_key.hpp"

namespace qkv::codegen {

inline constexpr node_id no_node = -1;

// The axes of `a` that `b` also has, in the order of `a`.
std::vector<axis_id> common(const std::vector<axis_id> &a, const std::vector<axis_id> &b);

class formulas {
 public:
  // The steps of `start` keep their numbers.
  explicit formulas(program start);

  const program &written() const { return p_; }
  program take() { return std::move(p_); }
  const std::vector<axis_id> &shape(node_id n) const { return p_.nodes[n].shape; }
  dtype type(node_id n) const { return p_.nodes[n].type; }

  // The number of an equal step, or of the new one.
  node_id put(node);
  node_id argument(const node &like, std::string name);
  void result(node_id value, const node &like, std::string name);

  node_id number(double, dtype);
  node_id index(axis_id);
  node_id size(axis_id);
  node_id cast(node_id, dtype);
  // The result has the axes of both operands, and the type of the first or b8.
  node_id unary(op, node_id);
  node_id binary(op, node_id a, node_id b);
  node_id where(node_id condition, node_id a, node_id b);
  node_id mask(node_id, node_id keep);

  node_id add(node_id a, node_id b) { return binary(op::add, a, b); }
  node_id sub(node_id a, node_id b) { return binary(op::sub, a, b); }
  node_id mul(node_id a, node_id b) { return binary(op::mul, a, b); }
  node_id div(node_id a, node_id b) { return binary(op::div, a, b); }
  node_id neg(node_id a) { return unary(op::neg, a); }
  node_id scaled(node_id a, double by) { return mul(a, number(by, type(a))); }

  // Repeated along the axes of `to` that it lacks; the result has the axes of `to`.
  node_id expand(node_id, const std::vector<axis_id> &to);
  // The operand of a repetition; itself when it is not one.
  node_id unexpanded(node_id) const;
  node_id reduce(op, node_id, const std::vector<axis_id> &over);
  // Sum over these axes of a * b; an axis that only one of them has is summed apart.
  node_id dot(node_id a, node_id b, const std::vector<axis_id> &over);
  // A step of one operand that keeps the type: a view, cumsum.
  node_id view(op, node_id, std::vector<axis_id> over, std::vector<axis_id> shape);
  node_id gather(node_id table, node_id position, axis_id along, std::vector<axis_id> shape);
  // The adjoint of gather: the sum of the values at each position; `shape` is that of the table.
  node_id put_at(node_id values, node_id position, axis_id along, std::vector<axis_id> shape);

  // A further axis of the same size.
  axis_id twin_of(axis_id);

 private:
  program p_;
  std::map<step_key, node_id> seen_;
};

}  // namespace qkv::codegen
