// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/fixed_loads.hpp"

namespace qkv::codegen {

namespace hi = Halide::Internal;

Halide::Expr fixed_loads::visit(const hi::Load *op) {
  const Halide::Expr inner = IRMutator::visit(op);
  const auto *load = inner.as<hi::Load>();
  const auto *ramp = load ? load->index.as<hi::Ramp>() : nullptr;
  if (!ramp || !hi::is_const(ramp->base)) return inner;
  if (!hi::is_negative_const(ramp->stride) && !hi::is_negative_const(ramp->base)) return inner;
  const std::string first = hi::unique_name("first");
  const Halide::Expr index =
      hi::Ramp::make(hi::Variable::make(ramp->base.type(), first), ramp->stride, ramp->lanes);
  return hi::Let::make(first, ramp->base,
                       hi::Load::make(load->type, load->name, index, load->image, load->param,
                                      load->predicate, load->alignment));
}

}  // namespace qkv::codegen
