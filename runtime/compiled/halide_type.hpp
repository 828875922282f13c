// SPDX-License-Identifier: BSL-1.0
#pragma once
// Element types as compiled code has them.
#include <qkv/core/dtype.hpp>

#include "compiled/halide.hpp"

namespace qkv::detail {

inline halide_type_t halide_type_of(int t) {
  switch (static_cast<dtype>(t)) {
    case dtype::f32:
      return {halide_type_float, 32};
    case dtype::bf16:
      return {halide_type_bfloat, 16};
    case dtype::f16:
      return {halide_type_float, 16};
    case dtype::f64:
      return {halide_type_float, 64};
    case dtype::i32:
      return {halide_type_int, 32};
    case dtype::b8:
      break;
  }
  return {halide_type_uint, 8};
}

}  // namespace qkv::detail
