#pragma once
// Program -> program, same results, less work. One file each; the order of `simplified` is the order of this list.
#include "codegen/program/program.hpp"

namespace qkv::codegen {

// size(d_k) / 8 -> numbers; x / 8 -> x * 0.125; x * 1 -> x.
program fold_constants(const program &);

// dot(Q, K) * 0.125 -> dot(Q * 0.125, K): one multiplication per element of Q in place of one per score.
program fold_scale(const program &);

// Two equal steps become one.
program merge_common_steps(const program &);

// softmax<kv>(s - max<kv>(s)) -> softmax<kv>(s).
program drop_shift(const program &);

// All of the above.
program simplified(const program &);

}  // namespace qkv::codegen
