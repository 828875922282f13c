// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/map.hpp"

#include <algorithm>
#include <set>

#include "codegen/halide/lower/expression.hpp"
#include "codegen/halide/lower/reductions.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/plan/reads_along.hpp"
#include "codegen/program/queries.hpp"
#include "codegen/program/walk.hpp"

namespace qkv::codegen {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::select;
using Halide::Tuple;
using Halide::Var;

class map_lowering {
 public:
  map_lowering(context &c, const map_stage &s) : c_(c), p_(c.p), s_(s), root_(s.root) {
    const std::vector<axis_id> &order = c.order(root_);
    for (std::size_t d = order.size(); d-- > 0;) {
      Var v = c_.var(order[d]);
      f_.position.push_back(v);
      here_[order[d]] = v;
    }
    order_ = order;
  }

  map_funcs run() {
    f_.out = Func(context::label(p_, root_));
    value v = s_.core == no_step ? plain() : reduced(p_[s_.core]);
    f_.out(f_.position) = stored_form(v, p_[root_].type);
    c_.store(root_, f_.out, order_);
    return f_;
  }

 private:
  // -1 if the call decides.
  std::int64_t size_of(axis_id a) const { return static_size(p_, a); }

  value plain() { return expression(c_).definition(root_, here_); }

  Expr reduce(const node &n, const fold &f) {
    if (n.over.empty()) return f.with(f.identity, or_else(f.of(here_), f.identity));
    std::vector<Var> position;
    indices at;
    for (std::size_t d = order_.size(); d-- > 0;)
      if (!has(n.over, order_[d])) {
        position.push_back(c_.var(order_[d]));
        at[order_[d]] = position.back();
      }
    const std::vector<axis_id> memory = order_of_operand(n);
    const axis_id last = axis_in_lanes(n, memory);
    std::vector<axis_id> over = without(n.over, {last});
    over.push_back(last);
    Halide::Region region = {
        Halide::Range(0, (c_.size(last) + reduction_lanes - 1) / reduction_lanes)};
    for (std::size_t d = over.size() - 1; d-- > 0;)
      region.push_back(Halide::Range(0, c_.size(over[d])));
    Halide::RDom r(region, "over");
    const Expr element = r[0] * reduction_lanes + f_.lane;
    at[last] = c_.within(last, element);
    for (std::size_t d = 0; d + 1 < over.size(); ++d)
      at[over[d]] = r[static_cast<int>(over.size() - 1 - d)];
    value v = f.of(at);
    v.present = both(v.present, element < c_.size(last));

    map_funcs::reduction red;
    red.position = position;
    const axis_id inner = last_of(order_, n.over);
    red.over_rows = inner != no_axis && size_of(inner) != 1 &&
                    ((!memory.empty() && memory.back() == inner) ||
                     values_apart(n, inner) < values_apart(n, last));
    for (std::size_t d = 0; d < over.size(); ++d) red.over.push_back(r[static_cast<int>(d)]);
    red.partial = Func("partial_" + f.what + "_" + context::label(p_, root_));
    std::vector<Expr> args = {f_.lane};
    args.insert(args.end(), position.begin(), position.end());
    const Expr next = or_else(v, f.identity);
    const bool in_blocks = f.rounds && !is_short(over);
    if (in_blocks) {
      // Halide 21 stores the numbers of a tuple one after the other: the one that needs both comes
      // first.
      red.partial(args) = Tuple(f.identity, f.identity);
      const Expr blocks = red.partial(args)[0], block = red.partial(args)[1],
                 is_full = iteration(r) % reduction_block == 0;
      red.partial(args) = Tuple(select(is_full, f.with(blocks, block), blocks),
                                select(is_full, next, f.with(block, next)));
    } else {
      red.partial(args) = f.identity;
      red.partial(args) = f.with(red.partial(args), next);
    }
    red.result = Func(f.what + "_" + context::label(p_, root_));
    red.result(position) = over_lanes(red, f, in_blocks);
    f_.reductions.push_back(red);
    std::vector<Expr> here(position.begin(), position.end());
    return red.result(here);
  }

  static Expr over_lanes(const map_funcs::reduction &red, const fold &f, bool in_blocks) {
    std::vector<Expr> lanes;
    for (int k = 0; k < reduction_lanes; ++k) {
      std::vector<Expr> at = {k};
      at.insert(at.end(), red.position.begin(), red.position.end());
      lanes.push_back(in_blocks ? f.with(red.partial(at)[0], red.partial(at)[1])
                                : Expr(red.partial(at)));
    }
    for (int half = reduction_lanes / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) lanes[k] = f.with(lanes[k], lanes[k + half]);
    return lanes[0];
  }

  // The axes in memory, outermost first, of the largest value that the operands of a reduction read
  // along all of its axes.
  std::vector<axis_id> order_of_operand(const node &n) const {
    std::vector<axis_id> found;
    std::set<node_id> seen;
    const auto enter = [&](node_id x) {
      if (!is_source(p_[x].kind) && !c_.is_stored(x)) return true;
      const std::vector<axis_id> &order = c_.order_in_memory(x);
      if (order.size() > found.size() && contains(order, n.over)) found = order;
      return false;
    };
    for (node_id operand : n.in) walk(p_, operand, enter, seen);
    return found;
  }

  // The number of values that vary along the axis and do not lie side by side, of those that a
  // reduction reads.
  int values_apart(const node &n, axis_id a) const {
    int apart = 0;
    for (node_id operand : n.in) apart += reads_of(c_.made, operand, a).apart;
    return apart;
  }

  // The axis of a reduction whose elements lie side by side, unless it is too short for all lanes
  // and another is not.
  axis_id axis_in_lanes(const node &n, const std::vector<axis_id> &memory) const {
    const auto fills_lanes = [&](axis_id a) {
      return size_of(a) < 0 || size_of(a) >= reduction_lanes;
    };
    const axis_id inner =
        memory.empty() || !has(n.over, memory.back()) ? n.over.back() : memory.back();
    if (fills_lanes(inner)) return inner;
    const auto other = std::find_if(n.over.begin(), n.over.end(), fills_lanes);
    return other == n.over.end() ? inner : *other;
  }

  // True where each of the 16 partial results takes at most one block of elements, in every call.
  bool is_short(const std::vector<axis_id> &over) const {
    std::int64_t iterations = 1;
    for (axis_id a : over) {
      const std::int64_t size = size_of(a);
      if (size < 0) return false;
      iterations *= a == over.back() ? (size + reduction_lanes - 1) / reduction_lanes : size;
      if (iterations > reduction_block) return false;
    }
    return true;
  }

  // The number of iterations before this one, modulo 2^32.
  static Expr iteration(const Halide::RDom &r) {
    Expr before = Halide::cast<std::uint32_t>(0);
    for (int d = r.dimensions(); d-- > 0;)
      before =
          before * Halide::cast<std::uint32_t>(r[d].extent()) + Halide::cast<std::uint32_t>(r[d]);
    return before;
  }

  Expr prefix(const node &n) {
    const axis_id axis = n.over[0];
    const Halide::RDom r(0, Halide::max(c_.size(axis) - 1, 0), "step");
    f_.along = c_.var(axis);
    f_.steps = {r.x};
    f_.in_place = Func("prefix_" + context::label(p_, root_));
    std::vector<Expr> here(f_.position.begin(), f_.position.end()), before = here, after = here;
    for (std::size_t d = 0; d < here.size(); ++d)
      if (order_[here.size() - 1 - d] == axis) before[d] = r.x, after[d] = r.x + 1;
    const value v = reductions_.operand(n, here_);
    f_.in_place(f_.position) = or_else(v, reductions::zero_of(n));
    f_.in_place(after) = strict::add(f_.in_place(after), f_.in_place(before));
    return f_.in_place(here);
  }

  // Every value in order, added to the row of its position: the same bits for any number of
  // threads, each of which has columns of its own.
  Expr scattered(const node &n) {
    const axis_id along = n.over[0];
    const std::vector<axis_id> steps = without(with(p_[n.in[0]].shape, p_[n.in[1]].shape), order_);
    Halide::Region region;
    for (std::size_t d = steps.size(); d-- > 0;)
      region.push_back(Halide::Range(0, c_.size(steps[d])));
    if (region.empty()) region.push_back(Halide::Range(0, 1));
    const Halide::RDom r(region, "step");
    indices at = here_;
    at.erase(along);
    for (std::size_t d = 0; d < steps.size(); ++d)
      at[steps[steps.size() - 1 - d]] = r[static_cast<int>(d)];
    const value v = expression(c_).at(n.in[0], at), position = expression(c_).at(n.in[1], at);
    const Expr zero = reductions::zero_of(n);
    std::vector<Expr> here(f_.position.begin(), f_.position.end()), to = here;
    for (std::size_t d = 0; d < here.size(); ++d)
      if (order_[here.size() - 1 - d] == along)
        to[d] =
            c_.within(along, Halide::clamp(position.number, 0, Halide::max(c_.size(along), 1) - 1));
    f_.along = c_.var(along);
    for (int d = 0; d < r.dimensions(); ++d) f_.steps.push_back(r[d]);
    f_.in_place = Func("put_" + context::label(p_, root_));
    f_.in_place(f_.position) = zero;
    const Expr number = or_else({v.number, both(v.present, position.present)}, zero);
    f_.in_place(to) = strict::add(f_.in_place(to), strict::cast(halide_type(n.type), number));
    return f_.in_place(here);
  }

  value reduced(const node &n) {
    if (n.kind == op::cumsum) return {prefix(n), {}};
    if (n.kind == op::put) return {scattered(n), {}};
    return reductions_.at(n, here_);
  }

  context &c_;
  const program &p_;
  const map_stage &s_;
  node_id root_;
  map_funcs f_;
  indices here_;
  std::vector<axis_id> order_;
  const reductions reductions_{
      c_, [this](node_id operand, const indices &at) { return expression(c_).at(operand, at); },
      [this](const node &n, const fold &f) { return reduce(n, f); }};
};

}  // namespace

map_funcs lower_map(context &c, const map_stage &s) { return map_lowering(c, s).run(); }

}  // namespace qkv::codegen
