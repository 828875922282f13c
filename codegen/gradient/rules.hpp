// SPDX-License-Identifier: BSL-1.0
#pragma once
// The rule of each operation: from the adjoint g of a step to what it adds to the adjoints of the
// step's operands. One file a family.
#include "codegen/gradient/reverse.hpp"

namespace qkv::codegen::adjoint {

using rule = void (*)(reverse &, node_id step, node_id g);

void unary_rule(reverse &, node_id, node_id g);        // pointwise.cpp
void arithmetic_rule(reverse &, node_id, node_id g);   // pointwise.cpp
void choice_rule(reverse &, node_id, node_id g);       // pointwise.cpp: where
void mask_rule(reverse &, node_id, node_id g);         // pointwise.cpp
void contraction_rule(reverse &, node_id, node_id g);  // contraction.cpp
void reduction_rule(reverse &, node_id, node_id g);    // reductions.cpp
void prefix_rule(reverse &, node_id, node_id g);       // reductions.cpp: cumsum
void weights_rule(reverse &, node_id, node_id g);      // weights.cpp
void view_rule(reverse &, node_id, node_id g);         // views.cpp
void gather_rule(reverse &, node_id, node_id g);       // gather.cpp: take, concat

// nullptr where a step has no operands with an adjoint.
rule rule_of(const reverse &, node_id step);

// All results of a scan, at the first of them.
void scan_rule(reverse &, node_id first_result);  // scan.cpp

// The program with the steps of each scan, then its results, one after the other, behind all that
// they read.
program with_scans_together(const program &);  // scans_together.cpp

}  // namespace qkv::codegen::adjoint
