// SPDX-License-Identifier: BSL-1.0
// The kernel behind a C function.
#include <qkv/call.hpp>

#include "mine.hpp"

extern "C" int doubled(float *values, float *twice, long items) {
  const qkv::tensor_view<qkv::f32, mine::items, mine::d> V(values, {items, 4}),
      O(twice, {items, 4});
  return qkv::call<mine::doubled>(V, O).ok() ? 0 : 1;
}
