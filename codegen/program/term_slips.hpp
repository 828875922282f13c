#pragma once
// Slips in the terms of scores: those that a softmax cancels, and biases that favour distant keys.
#include <string>
#include <vector>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

struct slip {
  node_id at;
  std::string text;  // what is wrong, and the likely fix
};

// Steps named by let() are exempt.
std::vector<slip> term_slips(const program &);

}  // namespace qkv::codegen
