// SPDX-License-Identifier: BSL-1.0
#include "codegen/program/formulas.hpp"

#include <utility>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {

std::vector<axis_id> common(const std::vector<axis_id> &a, const std::vector<axis_id> &b) {
  std::vector<axis_id> both;
  for (axis_id x : a)
    if (has(b, x)) both.push_back(x);
  return both;
}

namespace {

// True if no other step is the same: arguments and results have names, a state belongs to its scan.
bool is_unique(op o) {
  return o == op::input || o == op::param || o == op::output || o == op::carried;
}

// True if a step grows with pairs, or contracts one that does: its products are streamed, in an
// order that is chosen later.
bool is_of_pairs(const program &p, node_id n) {
  if (grows_with_pairs(p, n)) return true;
  const node &x = p[n];
  return x.kind == op::dot && (grows_with_pairs(p, x.in[0]) || grows_with_pairs(p, x.in[1]));
}

}  // namespace

formulas::formulas(program start) : p_(std::move(start)) {
  for (node_id n = 0; n < static_cast<node_id>(p_.nodes.size()); ++n)
    if (!is_unique(p_[n].kind)) seen_.emplace(key_of(p_[n]), n);
}

node_id formulas::put(node n) {
  const auto next = static_cast<node_id>(p_.nodes.size());
  if (!is_unique(n.kind))
    if (const auto [at, is_new] = seen_.emplace(key_of(n), next); !is_new) return at->second;
  p_.nodes.push_back(std::move(n));
  return next;
}

node_id formulas::argument(const node &like, std::string name) {
  node n;
  n.kind = op::input;
  n.type = like.type;
  n.shape = like.shape;
  n.is_position = like.is_position;
  n.name = std::move(name);
  p_.arguments.push_back(put(std::move(n)));
  return p_.arguments.back();
}

void formulas::result(node_id value, const node &like, std::string name) {
  node n;
  n.kind = op::output;
  n.type = like.type;
  n.in = {expand(cast(value, like.type), like.shape)};
  n.shape = like.shape;
  n.name = std::move(name);
  p_.outputs.push_back(put(std::move(n)));
}

node_id formulas::number(double value, dtype type) {
  node n;
  n.kind = op::number;
  n.type = type;
  n.value = value;
  return put(std::move(n));
}

node_id formulas::index(axis_id a) {
  node n;
  n.kind = op::index;
  n.type = i32;
  n.shape = n.over = {a};
  return put(std::move(n));
}

node_id formulas::size(axis_id a) {
  node n;
  n.kind = op::size;
  n.type = i32;
  n.over = {p_.axes[a].root};
  return put(std::move(n));
}

node_id formulas::cast(node_id a, dtype to) {
  if (type(a) == to) return a;
  node n;
  n.kind = op::cast;
  n.type = to;
  n.in = {a};
  n.shape = shape(a);
  return put(std::move(n));
}

node_id formulas::unary(op kind, node_id a) { return view(kind, a, {}, shape(a)); }

node_id formulas::binary(op kind, node_id a, node_id b) {
  node n;
  n.kind = kind;
  n.type = core::facts_of(kind).type == core::result_rule::truth ? b8 : type(a);
  n.in = {a, b};
  n.shape = with(shape(a), shape(b));
  return put(std::move(n));
}

node_id formulas::where(node_id condition, node_id a, node_id b) {
  node n;
  n.kind = op::where;
  n.type = type(a);
  n.in = {condition, a, b};
  n.shape = with(with(shape(a), shape(b)), shape(condition));
  return put(std::move(n));
}

node_id formulas::mask(node_id a, node_id keep) {
  a = expand(a, with(shape(a), shape(keep)));
  node n;
  n.kind = op::mask;
  n.type = type(a);
  n.in = {a, keep};
  n.shape = shape(a);
  return put(std::move(n));
}

node_id formulas::expand(node_id a, const std::vector<axis_id> &to) {
  const std::vector<axis_id> more = without(to, shape(a));
  return more.empty() ? a : view(op::broadcast, a, more, to);
}

node_id formulas::unexpanded(node_id a) const {
  return p_[a].kind == op::broadcast ? unexpanded(p_[a].in[0]) : a;
}

node_id formulas::reduce(op kind, node_id a, const std::vector<axis_id> &over) {
  return over.empty() ? a : view(kind, a, over, without(shape(a), over));
}

node_id formulas::dot(node_id a, node_id b, const std::vector<axis_id> &over) {
  const std::vector<axis_id> both = common(over, common(shape(a), shape(b)));
  // Pairs are streamed through products: what they are summed over besides comes after.
  std::vector<axis_id> after;
  for (node_id *x : {&a, &b}) {
    const std::vector<axis_id> own = without(common(shape(*x), over), both);
    if (grows_with_pairs(p_, *x) && !both.empty())
      after.insert(after.end(), own.begin(), own.end());
    else
      *x = reduce(op::sum, *x, own);
  }
  if (both.empty()) return mul(a, b);
  // Neither operand has an axis of its own: a sum of products, without rows and columns to tile.
  const bool is_tiled =
      !without(shape(a), shape(b)).empty() || !without(shape(b), shape(a)).empty();
  if (!is_tiled && !is_of_pairs(p_, a) && !is_of_pairs(p_, b))
    return reduce(op::sum, reduce(op::sum, mul(a, b), both), after);
  node n;
  n.kind = op::dot;
  n.type = type(a);
  n.in = {a, b};
  n.over = both;
  n.shape = without(with(shape(a), shape(b)), both);
  return reduce(op::sum, put(std::move(n)), after);
}

node_id formulas::view(op kind, node_id a, std::vector<axis_id> over, std::vector<axis_id> shape) {
  node n;
  n.kind = kind;
  n.type = type(a);
  n.in = {a};
  n.over = std::move(over);
  n.shape = std::move(shape);
  return put(std::move(n));
}

node_id formulas::gather(node_id table, node_id position, axis_id along,
                         std::vector<axis_id> shape) {
  node n;
  n.kind = op::take;
  n.type = type(table);
  n.in = {table, position};
  n.over = {along};
  n.shape = std::move(shape);
  return put(std::move(n));
}

node_id formulas::put_at(node_id values, node_id position, axis_id along,
                         std::vector<axis_id> shape) {
  // One value for each row: its element is found by a comparison, so that no sum keeps an order.
  if (without(with(this->shape(values), this->shape(position)), shape).empty()) {
    const node_id last = binary(op::sub, size(along), number(1, i32));
    const node_id inside = binary(op::max, binary(op::min, position, last), number(0, i32));
    const node_id here = binary(op::equal, index(along), inside);
    return expand(where(here, values, number(0, type(values))), shape);
  }
  node n;
  n.kind = op::put;
  n.type = type(values);
  n.in = {values, position};
  n.over = {along};
  n.shape = std::move(shape);
  return put(std::move(n));
}

axis_id formulas::twin_of(axis_id a) {
  axis twin = p_.axes[a];
  do twin.name += "_";
  while (std::any_of(p_.axes.begin(), p_.axes.end(),
                     [&](const axis &other) { return other.name == twin.name; }));
  p_.axes.push_back(std::move(twin));
  return static_cast<axis_id>(p_.axes.size()) - 1;
}

}  // namespace qkv::codegen
