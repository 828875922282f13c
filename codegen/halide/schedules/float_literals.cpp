// SPDX-License-Identifier: BSL-1.0
#include "codegen/halide/schedules/float_literals.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

namespace qkv::codegen {

namespace hi = Halide::Internal;

Halide::Expr float_literals::visit(const hi::Reinterpret *op) {
  const auto bits = hi::as_const_int(op->value);
  std::optional<double> number;
  if (bits && op->type == Halide::Float(32))
    number = std::bit_cast<float>(static_cast<std::int32_t>(*bits));
  else if (bits && op->type == Halide::Float(64))
    number = std::bit_cast<double>(*bits);
  if (!number || std::isnan(*number)) return IRMutator::visit(op);
  return hi::FloatImm::make(op->type, *number);
}

}  // namespace qkv::codegen
