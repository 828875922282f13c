// SPDX-License-Identifier: BSL-1.0
#pragma once
// The order of sums.

namespace qkv::codegen {

// Order in which a plain loop adds products.
enum class order {
  in_sequence,  // one sum
  in_eights,    // eight partial sums, element k into the sum k mod 8
  fused,        // one sum; products are added unrounded
};

}  // namespace qkv::codegen
