// SPDX-License-Identifier: BSL-1.0
#pragma once
// Context for lowering a kernel: its sizes as expressions, and the location of each stored step.
#include <Halide.h>

#include <functional>
#include <map>
#include <set>

#include "codegen/halide/lower/late_variables.hpp"
#include "codegen/plan/plan.hpp"
#include "codegen/program/bounds.hpp"
#include "codegen/program/program.hpp"

namespace qkv::codegen {

using indices = std::map<axis_id, Halide::Expr>;  // a position along each axis

class context {
 public:
  // Reads these params in their packed layout, others in place.
  context(const plan &, const std::vector<pack> &);

  const plan &made;
  const program &p;
  const std::vector<bool> masked, may_be_empty, has_gaps;  // per step: see program/queries.hpp
  const whole_numbers whole;                               // see program/bounds.hpp

  // The extent of an axis: a constant, or the parameter that carries it.
  Halide::Expr size(axis_id) const;

  // The extent that memory along an axis has: an empty tensor is passed with extents of at least 1,
  // so that addresses may be formed, though they are never used.
  Halide::Expr extent(axis_id) const;

  // The position, or the nearest one in memory: for values that are read and then ignored.
  Halide::Expr within(axis_id, Halide::Expr position) const;

  // The loop variable of an axis; named after it, and apart from every variable of a stage.
  Halide::Var var(axis_id) const;

  // The value of an argument or a stored step at a position, indices within bounds.
  Halide::Expr read(node_id, const indices &) const;
  void store(node_id, Halide::Func,
             std::vector<axis_id> order);  // the Func's arguments are `order` reversed
  // Gives the Func the whole extents of these axes: its arguments from `first` on are `order`
  // reversed. Like an argument of the call, it has at least one element along each.
  void bound_whole(Halide::Func, const std::vector<axis_id> &order, std::size_t first = 0) const;
  // Bounds the results of the call that are stored so far, as other stored steps are: loops read
  // them at late positions.
  void bound_results();
  // A launch that stores the step `by` writes this one, too: reads of it come after that launch.
  void written_by(node_id, node_id by);
  // The element of an argument or a stored step alone, and what must be computed before it;
  // undefined: nothing else.
  Halide::Expr element(node_id, const indices &) const;
  Halide::Expr before(node_id) const;

  // The argument or stored step that this call reads. Throws std::logic_error for any other call.
  node_id read_by(const Halide::Internal::Call &) const;
  // The whole tensor, as an argument of an extern stage.
  Halide::ExternFuncArgument whole_of(node_id) const;

  // The call's user context, which extern stages pass to the runtime. All stages share this one
  // expression: each call of user_context_value() would add a parameter.
  const Halide::Expr user_context = Halide::user_context_value();

  // They have the user context's parameter.
  late_variables late{user_context};

  // The same number, of which compilers know only the bits. Otherwise they assume that a sum of
  // products is not NaN, and fold x == x and x * 0.
  Halide::Expr unknown_number(const Halide::Expr &);

  // A param in its packed layout: (lane, row, panel, outer reversed...).
  Halide::Expr read_packed(node_id, Halide::Expr row, Halide::Expr column,
                           const indices &outer) const;
  const pack *packed(node_id) const;

  // A stored step, and its axes in memory, outermost first.
  bool is_stored(node_id n) const { return made.cut.stored_by[n] >= 0; }
  bool has(node_id n) const { return stored_.count(n) > 0; }  // its Func is defined
  const std::vector<axis_id> &order(node_id n) const { return made.order[n]; }
  // The same for arguments, too, where no param is packed.
  const std::vector<axis_id> &order_in_memory(node_id n) const {
    return is_stored(n) ? order(n) : p[n].shape;
  }

  // Inputs in order of the signature, run-time sizes, last positions along the same axes.
  std::vector<Halide::Argument> arguments() const;

  // Names that differ between stages, for reading lowered code.
  static std::string label(const program &, node_id);

 private:
  struct place {
    Halide::Func func;
    std::vector<axis_id> order;
  };
  std::map<axis_id, Halide::Param<int>> sizes_;
  // max(size, 1) - 1; a parameter of its own, since Halide would see through the formula inside a
  // loop
  std::map<axis_id, Halide::Param<int>> last_;
  std::map<node_id, Halide::ImageParam> images_;
  std::map<node_id, pack> packs_;
  std::map<node_id, place> stored_;
  std::map<node_id, node_id> written_by_;
  std::set<node_id> bounded_;  // of the results
  Halide::Expr no_bits_;
};

Halide::Type halide_type(dtype);

}  // namespace qkv::codegen
