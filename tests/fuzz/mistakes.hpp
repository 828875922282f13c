// SPDX-License-Identifier: BSL-1.0
#pragma once
// Mistakes that a rewrite, a cut or a lowering could make, to test that the fuzzer would find them.
#include <string>
#include <vector>

#include "tests/fuzz/rewritten.hpp"

namespace qkv::fuzz {

struct mistake {
  std::string name;
  std::string in;  // the rewrite after which it is made; "lowering": after all of them
  std::function<codegen::program(codegen::program)> make;
};

const std::vector<mistake> &mistakes();

// Wrong ways to cut a program into stages.
struct wrong_cut {
  std::string name;
  cut run;
};
const std::vector<wrong_cut> &wrong_cuts();

// All rewrites, with this mistake among them.
std::vector<rewrite> rewrites_with(const mistake &);

}  // namespace qkv::fuzz
