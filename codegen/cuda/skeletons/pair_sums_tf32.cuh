// SPDX-License-Identifier: BSL-1.0
#include "pair_sums.cuh"
#include "tf32.cuh"
// Sums over pairs of f32 by tensor cores of TF32.

template <class Spec>
QKV_DEVICE void pair_sums_tf32(const typename Spec::arguments &a) {
  sum_pairs<Spec, tf32_products>(a);
}
