// SPDX-License-Identifier: BSL-1.0
#include "codegen/plan/reads_along.hpp"

#include <set>
#include <tuple>

#include "codegen/program/queries.hpp"

namespace qkv::codegen {
namespace {

class counter {
 public:
  explicit counter(const plan &made) : made_(made), p_(made.p) {}

  // `far`: positions are multiplied or gathered before this step.
  void visit(node_id n, axis_id a, bool far) {
    const node &x = p_[n];
    if (!has(x.shape, a) || !seen_.insert({n, a, far}).second) return;
    const std::vector<axis_id> &o = x.over;
    if (is_source(x.kind) || made_.cut.stored_by[n] >= 0)
      memory(n, a, far);
    else if (x.kind == op::rename && a == o[1])
      visit(x.in[0], o[0], far);
    else if (x.kind == op::split && (a == o[1] || a == o[2]))
      visit(x.in[0], o[0], far || a == o[1]);
    else if (x.kind == op::merge && a == o[0])
      visit(x.in[0], o[2], far);
    else if (x.kind == op::concat && a == o[0])
      visit(x.in[0], o[1], far), visit(x.in[1], o.back(), far);
    else if (x.kind == op::take)
      gathered(x, a, far);
    else
      for (const node_id operand : x.in) visit(operand, a, far);
  }

  const reads_along &found() const { return found_; }

 private:
  void memory(node_id n, axis_id a, bool far) {
    if (!is_argument(p_[n]) && made_.cut.stored_by[n] < 0) return;
    const std::vector<axis_id> &order = made_.cut.stored_by[n] >= 0 ? made_.order[n] : p_[n].shape;
    ++(far || order.back() != a ? found_.apart : found_.side_by_side);
  }

  void gathered(const node &take, axis_id a, bool far) {
    const node_id table = take.in[0], position = take.in[1];
    const axis_id along = take.over[0];
    if (a != along) visit(table, a, far);
    visit(position, a, far);
    if (has(p_[position].shape, a)) visit(table, along, far || !is_next(position));
  }

  // True for index(a), index(a) + n: what a slice takes.
  bool is_next(node_id position) const {
    const node &x = p_[position];
    if (x.kind == op::index) return true;
    if (x.kind == op::broadcast) return is_next(x.in[0]);
    if (x.kind != op::add) return false;
    const auto is_fixed = [&](node_id n) { return p_[unbroadcast(p_, n)].shape.empty(); };
    return (is_fixed(x.in[1]) && is_next(x.in[0])) || (is_fixed(x.in[0]) && is_next(x.in[1]));
  }

  const plan &made_;
  const program &p_;
  std::set<std::tuple<node_id, axis_id, bool>> seen_;
  reads_along found_;
};

}  // namespace

reads_along reads_of(const plan &made, node_id step, axis_id a) {
  counter c(made);
  c.visit(step, a, false);
  return c.found();
}

}  // namespace qkv::codegen
