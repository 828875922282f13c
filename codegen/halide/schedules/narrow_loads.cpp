// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/narrow_loads.hpp"

#include <algorithm>
#include <array>

namespace qkv::codegen {

namespace hi = Halide::Internal;

namespace {

constexpr std::array widths = {1, 2, 3, 4, 8, 16};

}  // namespace

Halide::Expr narrow_loads::visit(const hi::Shuffle *op) {
  const auto *load = op->vectors.size() == 1 ? op->vectors[0].as<hi::Load>() : nullptr;
  const auto *ramp = load ? load->index.as<hi::Ramp>() : nullptr;
  if (!op->is_slice() || !ramp || !hi::is_const_one(ramp->stride) ||
      !hi::is_const_one(load->predicate) || std::count(widths.begin(), widths.end(), ramp->lanes))
    return IRMutator::visit(op);
  const Halide::Expr first = mutate(ramp->base) + op->slice_begin(), stride = op->slice_stride();
  const int lanes = op->type.lanes();
  return hi::Load::make(op->type, load->name,
                        lanes == 1 ? first : hi::Ramp::make(first, stride, lanes), load->image,
                        load->param, hi::const_true(lanes), hi::ModulusRemainder());
}

}  // namespace qkv::codegen
