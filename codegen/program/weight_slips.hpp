#pragma once
// Slips in what weighs values: logarithms of weights, scores without softmax, weights that are
// averaged or added to scores.
#include <vector>

#include "codegen/program/slip.hpp"

namespace qkv::codegen {

std::vector<slip> weight_slips(const program &);

}  // namespace qkv::codegen
