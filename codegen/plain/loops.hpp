// SPDX-License-Identifier: BSL-1.0
#pragma once
// A map or a contraction as loops of C++, printed from the same expressions that Halide gets.
#include <Halide.h>

#include <optional>
#include <string>

#include "codegen/halide/lower/context.hpp"
#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

struct plain_loops {
  Halide::Func out;  // calls the loops
  std::string text;  // of the function SYMBOL, to be compiled after functions.inc
};

// Stores the stage's root in the context. Empty for other stages, for running sums, and where one of
// the operations has no text.
std::optional<plain_loops> print_loops(context &, const stage &, const std::string &symbol);

}  // namespace qkv::codegen
