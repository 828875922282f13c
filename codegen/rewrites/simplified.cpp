// SPDX-License-Identifier: BSL-1.0
// The order in which each rewrite finds what it looks for.
#include "codegen/rewrites/rewrites.hpp"

namespace qkv::codegen {

program opened(const program &p) {
  const program closed =
      close_softmax(drop_shift(fold_constants(merge_common_steps(hoist_from_scan(widen(p))))));
  return distribute_weights(join_softplus(walk_prefix_sums(merge_common_steps(closed))));
}

program simplified(const program &p) {
  return split_sums(put_first(merge_common_steps(fold_scale(order_contractions(opened(p))))));
}

}  // namespace qkv::codegen
