// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/contraction.hpp"

#include "codegen/halide/lower/expression.hpp"
#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/stored_step.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/halide/lower/unsolved.hpp"
#include "codegen/plan/block_copies.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

namespace {

// A param of two contractions is packed for the first.
bool serves(const pack &k, const program &p, const contraction_stage &s) {
  return k.rows == p[s.core].over && k.columns == std::vector<axis_id>{s.column};
}

class contraction_lowering {
 public:
  contraction_lowering(context &c, const contraction_stage &s, int panel)
      : c_(c),
        p_(c.p),
        s_(s),
        type_(halide_type(p_[s.core].type)),
        zero_(math::constant(type_, 0)) {
    f_.panel = panel;
    f_.has_row = s.row != no_axis;
    for (std::size_t d = s.outer.size(); d-- > 0;) {
      f_.outer.push_back(c.var(s.outer[d]));
      vars_.emplace(s.outer[d], f_.outer.back());
    }
  }

  contraction_funcs run() {
    const indices at = contracted();
    sum(left(at), right(at));
    result();
    return std::move(f_);
  }

 private:
  const std::vector<axis_id> &over() const { return p_[s_.core].over; }

  // The position of a term. k counts row-major over the contracted axes; rows past the end repeat
  // the last one.
  indices contracted() {
    Halide::Region region;
    for (axis_id a : over()) region.insert(region.begin(), Halide::Range(0, c_.size(a)));
    Halide::RDom r(region, "k");
    indices at;
    k_ = 0;
    for (std::size_t d = 0; d < over().size(); ++d) {
      const Halide::RVar v = r[static_cast<int>(over().size() - 1 - d)];
      at[over()[d]] = v;
      k_ = k_ * c_.size(over()[d]) + v;
    }
    for (std::size_t d = 0; d < over().size(); ++d) f_.over.push_back(r[static_cast<int>(d)]);
    for (const auto &[axis, var] : vars_) at[axis] = var;
    if (f_.has_row) at[s_.row] = c_.within(s_.row, f_.row);
    return at;
  }

  value left(const indices &at) {
    if (!are_rows_copied(c_.made, s_)) return left_at(at);
    std::vector<Var> vars;
    std::vector<Expr> read;
    indices inside = at;
    const std::vector<axis_id> &shape = p_[s_.left].shape;
    const auto add = [&](axis_id a) {
      vars.push_back(c_.var(a));
      read.push_back(at.at(a));
      inside.insert_or_assign(a, vars.back());
    };
    for (std::size_t d = over().size(); d-- > 0;) add(over()[d]);
    for (std::size_t d = shape.size(); d-- > 0;)
      if (!has(over(), shape[d])) add(shape[d]);
    const value v = left_at(inside);
    if (v.present.defined() || v.empty.defined()) return left_at(at);
    f_.left = Func("left_" + context::label(p_, s_.core));
    f_.left(vars) = v.number;
    return {f_.left(read), {}};
  }
  value left_at(const indices &at) {
    value v = expression(c_).at(s_.left, at);
    v.number = strict::cast(type_, v.number);
    return v;
  }

  Expr right(const indices &at) {
    const pack *packed = c_.packed(s_.right);
    return packed && serves(*packed, p_, s_) ? c_.read_packed(s_.right, k_, f_.column, at)
                                             : packed_here();
  }

  // Panels of columns; columns past the end meet zeros.
  Expr packed_here() {
    f_.packed = Func("packed_" + context::label(p_, s_.right));
    std::vector<Var> args = {f_.lane, f_.k, f_.panel_index};
    std::vector<Expr> read = {f_.column % f_.panel, k_, f_.column / f_.panel};
    indices inside;
    Expr rest = f_.k;
    for (std::size_t d = over().size(); d-- > 0;) {
      const Expr n = Halide::max(c_.size(over()[d]), 1);
      inside[over()[d]] = d == 0 ? rest : rest % n;
      rest = rest / n;
    }
    const Expr column = f_.panel_index * f_.panel + f_.lane;
    inside[s_.column] = c_.within(s_.column, column);
    for (std::size_t d = s_.outer.size(); d-- > 0;)
      if (has(p_[s_.right].shape, s_.outer[d])) {
        args.push_back(vars_.at(s_.outer[d]));
        read.push_back(vars_.at(s_.outer[d]));
        inside[s_.outer[d]] = vars_.at(s_.outer[d]);
      }
    const value v = expression(c_).at(s_.right, inside);
    const Expr number = or_else({strict::cast(type_, v.number), v.present}, zero_);
    f_.packed(args) = Halide::select(column < c_.size(s_.column), strict::hide_zero(number), zero_);
    return f_.packed(read);
  }

  void sum(const value &left, const Expr &right) {
    std::vector<Expr> all = {f_.column, f_.row};
    for (const Var &v : f_.outer) all.push_back(v);
    f_.sum = Func("sum_" + context::label(p_, s_.core));
    f_.sum(all) = zero_;
    // The packed right operand lies in memory, where compilers do not see its literals.
    const Expr term = or_else(product(left, {right, {}}, type_), zero_);
    f_.sum(all) = strict::plus(f_.sum(all), term);
  }

  // The stored step: the sum and the pointwise steps after it.
  void result() {
    std::map<axis_id, Var> out = vars_;
    if (f_.has_row) out.emplace(s_.row, f_.row);
    out.emplace(s_.column, f_.column);
    std::vector<Expr> at = {f_.column, f_.has_row ? Expr(f_.row) : Expr(0)};
    for (const Var &v : f_.outer) at.push_back(v);
    f_.out = stored_step(c_, Func(context::label(c_.p, s_.root)), s_.root, s_.core, f_.sum(at), out,
                         [](const Expr &e) { return unsolved(e); });
  }

  context &c_;
  const program &p_;
  const contraction_stage &s_;
  const Halide::Type type_;
  const Expr zero_;
  std::map<axis_id, Var> vars_;
  Expr k_;
  contraction_funcs f_;
};

}  // namespace

contraction_funcs lower_contraction(context &c, const contraction_stage &s, int panel) {
  return contraction_lowering(c, s, panel).run();
}

}  // namespace qkv::codegen
