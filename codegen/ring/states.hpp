// SPDX-License-Identifier: BSL-1.0
#pragma once
// Sums that go on from where other tokens left them. A product with weights of a softmax goes on
// together with the logsumexp of these:
//
//   m = max(lse, lse'), a = exp(lse - m), b = exp(lse' - m)
//   O'' = (O a + O' b) / (a + b), lse'' = m + log(a + b)
#include <functional>
#include <set>
#include <string>

#include "codegen/ring/part.hpp"

namespace qkv::codegen {

// The name of a sum as a state; of the logsumexp where the step is a softmax.
std::string name_of_state(const program &whole, node_id);

// The softmax whose weights a product has, or no_node.
node_id weights_of(const program &whole, node_id product);

// The step whose state is the logsumexp of the scores of these weights: a logsumexp of these scores
// that is computed in the same round as the product, or the softmax.
node_id logsumexp_with(const program &whole, const token_places &, node_id product);

// Adds the states of these sums to a part: an argument before_<state> and a result for each, in one
// order. `block` gives a sum over some tokens alone: of a softmax, the logsumexp of its scores.
void add_states(const program &whole, const token_places &, part &, const std::set<node_id> &sums,
                const std::function<node_id(node_id)> &block);

// A sum as the tensor that holds it: a softmax without the axes of its sum.
node like_state(const program &whole, node_id);

}  // namespace qkv::codegen
