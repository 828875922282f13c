// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/lower/stored_step.hpp"

#include "codegen/halide/lower/expression.hpp"

namespace qkv::codegen {

using Halide::Expr;
using Halide::Func;
using Halide::Var;

Func stored_step(context &c, Func f, node_id root, node_id core, const Expr &number,
                 const std::map<axis_id, Var> &vars,
                 const std::function<Expr(const Expr &)> &form) {
  expression e(c, [&](node_id n, const indices &) -> std::optional<value> {
    if (n == core) return value{number, {}};
    return std::nullopt;
  });
  const std::vector<axis_id> &order = c.order(root);
  std::vector<Var> args;
  indices at;
  for (std::size_t d = order.size(); d-- > 0;) args.push_back(vars.at(order[d]));
  for (const auto &[axis, var] : vars) at[axis] = var;
  f(args) = form(stored_form(e.definition(root, at), c.p[root].type));
  c.store(root, f, order);
  return f;
}

}  // namespace qkv::codegen
