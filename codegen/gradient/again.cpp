// SPDX-License-Identifier: BSL-1.0
#include "codegen/gradient/again.hpp"

#include <limits>

#include "codegen/program/queries.hpp"

namespace qkv::codegen::adjoint {

node_id again::value(node_id n) {
  if (!is_forward(n)) return n;
  if (const auto it = values_.find(n); it != values_.end()) return it->second;
  const node_id made = found(n);
  return values_[n] = made;
}

node_id again::found(node_id n) {
  const node x = f_.written()[n];  // a copy: steps are added
  if (makes_weights(x.kind)) return here_.filled(weights(n));
  const bool is_recomputed = is_inlinable(f_.written(), n) ||
                             (grows_with_pairs(f_.written(), n) &&
                              (x.kind == op::dot || is_reduction(x.kind) || x.kind == op::cumsum));
  const bool is_own = is_source(x.kind) || x.kind == op::element;
  return is_recomputed && !is_own ? copy(n, &again::value) : n;
}

node_id again::copy(node_id n, node_id (again::*of_operand)(node_id)) {
  node x = f_.written()[n];
  for (node_id &operand : x.in) operand = (this->*of_operand)(operand);
  return f_.put(std::move(x));
}

node_id again::factor(node_id n) {
  if (!is_forward(n)) return n;
  if (const auto it = factors_.find(n); it != factors_.end()) return it->second;
  const op kind = f_.written()[n].kind;
  const bool is_linear = core::facts_of(kind).linear == core::linear_rule::each,
             keeps_empty = kind == op::cast || (is_linear && (is_pointwise(kind) || is_view(kind)));
  const node_id made = makes_weights(kind) ? weights(n)
                       : keeps_empty       ? copy(n, &again::factor)
                                           : value(n);
  return factors_[n] = made;
}

node_id again::weights(node_id n) {
  const node x = f_.written()[n];  // a copy: steps are added
  const node_id scores = f_.cast(value(x.in[0]), x.type);
  if (x.kind == op::softmax)
    return x.less_maximum ? weight(f_.sub(scores, logsumexp(n)))  // NaN in rows of -inf
                          : exp_less(scores, logsumexp(n));
  const node_id sum = total(n), zero = f_.number(0, x.type);
  return f_.where(f_.binary(op::equal, sum, zero), f_.number(0, x.type), f_.div(scores, sum));
}

node_id again::logsumexp(node_id n) {
  const node x = f_.written()[n];
  return f_.reduce(op::logsumexp, f_.cast(x.in[0], x.type), x.over);
}

node_id again::total(node_id n) {
  const node x = f_.written()[n];
  return f_.reduce(op::sum, f_.cast(x.in[0], x.type), x.over);
}

node_id again::weight(node_id log_weight) {
  node n;
  n.kind = op::exp;
  n.type = f_.type(log_weight);
  n.in = {log_weight};
  n.shape = f_.shape(log_weight);
  n.less_maximum = true;
  return f_.put(std::move(n));
}

node_id again::exp_less(node_id scores, node_id lse) {
  const dtype t = f_.type(lse);
  const node_id lowest = f_.number(-std::numeric_limits<double>::infinity(), t);
  const node_id finite = f_.where(f_.binary(op::equal, lse, lowest), f_.number(0, t), lse);
  return weight(f_.sub(scores, finite));
}

}  // namespace qkv::codegen::adjoint
