// SPDX-License-Identifier: BSL-1.0
#pragma once
// Programs as text: labels of steps, shapes, a readable listing.
#include <string>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Its own name, or one made of its operands' names: "dot(X, Wq)", "dot(Q, K) / 8". Long operands
// are cut to their operation.
std::string label_of(const program &, node_id);
// The same for messages: longer, and without views that a spec does not write.
std::string written_as(const program &, node_id);

// "batch, heads, seq"
std::string names_of(const program &, const std::vector<axis_id> &axes);

// "[batch, heads=8, seq]"
std::string shape_of(const program &, const std::vector<axis_id> &shape);

// "self_attention(in Q[batch, seq, d_k=64], param W[d_k=64], in len i32[batch]) -> O[batch, seq]"
std::string signature_text(const program &);

// One step a line, for people: "%7 = softmax<kv>(%6)  f32[batch, heads=8, seq, kv]".
std::string to_text(const program &);

}  // namespace qkv::codegen
