// SPDX-License-Identifier: BSL-1.0
#pragma once
// Results of the call at each pair of a row and a key, which a walk stores as it goes: the gradient
// of a bias, for one. Where they are sums over outer axes, positions along these take turns: the
// first one stores, later ones add, so that the order of terms is fixed.
#include "codegen/halide/lower/attention_form.hpp"

namespace qkv::codegen {

// The same pair, whose computation also stores `number` in the result of this sum.
Halide::Expr storing_result(attention_form &, const weighted_sum &, const Halide::Expr &pair,
                            const Halide::Expr &number);

}  // namespace qkv::codegen
