// SPDX-License-Identifier: BSL-1.0
#include "mma.cuh"
#include "pair_sums.cuh"
// Sums over pairs of 16 bits by mma.sync.

template <class Spec>
QKV_DEVICE void pair_sums_mma(const typename Spec::arguments &a) {
  sum_pairs<Spec, mma_products>(a);
}
