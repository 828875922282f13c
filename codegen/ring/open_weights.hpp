// SPDX-License-Identifier: BSL-1.0
#pragma once
// Weights over the tokens of all machines, from sums that can be continued.
#include "codegen/program/program.hpp"

namespace qkv::codegen {

// A softmax over the keys of pairs stays where it is only multiplied with values, each product with
// one of them. Else, and over queries,
//
//   softmax<kv>(s)                    -> exp(s - logsumexp<kv>(s))
//   dot<kv>(normalize<kv>(x), V)      -> dot<kv>(x, V) / sum<kv>(x)      of pairs
//   normalize<kv>(x)                  -> x / sum<kv>(x)
//   mean<kv>(x)                       -> sum<kv>(x) / (the number of elements that are present)
program with_open_weights(const program &, axis_id query, axis_id key);

}  // namespace qkv::codegen
