#include "codegen/halide/lower/contraction.hpp"

#include "codegen/halide/lower/expression.hpp"
#include "codegen/halide/lower/math.hpp"
#include "codegen/halide/lower/strict.hpp"
#include "codegen/halide/lower/unsolved.hpp"
#include "codegen/program/queries.hpp"

namespace qkv::codegen {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

namespace {

// A param of two contractions is packed for the first.
bool serves(const pack &k, const program &p, const contraction_stage &s) {
  return k.rows == p[s.core].over &&
         (s.column == no_axis ? k.columns.empty() : k.columns == std::vector<axis_id>{s.column});
}

}  // namespace

contraction_funcs lower_contraction(context &c, const contraction_stage &s) {
  const program &p = c.p;
  const Halide::Type type = halide_type(p[s.core].type);
  const Expr zero = math::constant(type, 0);
  contraction_funcs f;
  f.has_row = s.row != no_axis;
  f.has_column = s.column != no_axis;
  const std::string name = context::label(p, s.core);
  std::map<axis_id, Var> vars;
  for (std::size_t d = s.outer.size(); d-- > 0;) {
    f.outer.push_back(c.var(s.outer[d]));
    vars.emplace(s.outer[d], f.outer.back());
  }

  // k counts row-major over the contracted axes
  const std::vector<axis_id> &over = p[s.core].over;
  Halide::Region region;
  for (axis_id a : over) region.insert(region.begin(), Halide::Range(0, c.size(a)));
  Halide::RDom r(region, "k");
  indices at;
  Expr k = 0;
  for (std::size_t d = 0; d < over.size(); ++d) {
    const Halide::RVar v = r[static_cast<int>(over.size() - 1 - d)];
    at[over[d]] = v;
    k = k * c.size(over[d]) + v;
  }
  for (std::size_t d = 0; d < over.size(); ++d) f.over.push_back(r[static_cast<int>(d)]);

  // rows past the end repeat the last one; columns past the end meet zeros
  const Expr last_row = f.has_row ? c.within(s.row, f.row) : Expr(0);
  for (const auto &[axis, var] : vars) at[axis] = var;
  if (f.has_row) at[s.row] = last_row;
  value left = expression(c).at(s.left, at);
  left.number = strict::cast(type, left.number);

  Expr right;
  if (const pack *packed = c.packed(s.right); packed && serves(*packed, p, s)) {
    f.panel = packed->panel;
    right = c.read_packed(s.right, k, f.column, at);
  } else {
    f.panel = panel_of(p, s.column);
    f.packed = Func("packed_" + context::label(p, s.right));
    std::vector<Var> args = {f.lane, f.k, f.panel_index};
    std::vector<Expr> read = {f.column % f.panel, k, f.column / f.panel};
    indices inside;
    Expr rest = f.k;
    for (std::size_t d = over.size(); d-- > 0;) {
      const Expr n = Halide::max(c.size(over[d]), 1);
      inside[over[d]] = d == 0 ? rest : rest % n;
      rest = rest / n;
    }
    const Expr columns = f.has_column ? c.size(s.column) : Expr(1),
               column = f.panel_index * f.panel + f.lane;
    if (f.has_column) inside[s.column] = c.within(s.column, column);
    for (std::size_t d = s.outer.size(); d-- > 0;)
      if (has(p[s.right].shape, s.outer[d])) {
        args.push_back(vars.at(s.outer[d]));
        read.push_back(vars.at(s.outer[d]));
        inside[s.outer[d]] = vars.at(s.outer[d]);
      }
    const value v = expression(c).at(s.right, inside);
    f.packed(args) = Halide::select(column < columns,
                                    or_else({strict::cast(type, v.number), v.present}, zero), zero);
    right = f.packed(read);
  }

  std::vector<Expr> all = {f.column, f.row};
  for (const Var &v : f.outer) all.push_back(v);
  f.sum = Func("sum_" + name);
  f.sum(all) = zero;
  // The packed right operand lies in memory, where compilers do not see its literals.
  f.sum(all) = strict::plus(f.sum(all), or_else(product(left, {right, {}}, type), zero));

  const node_id root = s.root;
  std::map<axis_id, Var> out = vars;
  if (f.has_row) out.emplace(s.row, f.row);
  if (f.has_column) out.emplace(s.column, f.column);
  std::vector<Expr> result = all;
  if (!f.has_column) result[0] = 0;
  if (!f.has_row) result[1] = 0;
  expression e(c, [&](node_id n, const indices &) -> std::optional<value> {
    if (n == s.core) return value{f.sum(result), {}};
    return std::nullopt;
  });
  const std::vector<axis_id> &order = c.order(root);
  std::vector<Var> args;
  indices here;
  for (std::size_t d = order.size(); d-- > 0;) args.push_back(out.at(order[d]));
  for (const auto &[axis, var] : out) here[axis] = var;
  f.out = Func(context::label(p, root));
  f.out(args) = unsolved(stored_form(e.definition(root, here), p[root].type));
  c.store(root, f.out, order);
  return f;
}

}  // namespace qkv::codegen
