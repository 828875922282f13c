// SPDX-License-Identifier: BSL-1.0
#pragma once
// A map or a contraction as loops of C++, printed from the same expressions that Halide gets.
#include <Halide.h>

#include <string>

#include "codegen/halide/lower/context.hpp"
#include "codegen/plan/stages.hpp"

namespace qkv::codegen {

struct plain_loops {
  Halide::Func out;  // calls the loops
  std::string text;  // of the function SYMBOL, to be compiled after functions.inc
};

// Stores the stage's root in the context. Throws no_text with the reason for an attention, a scan,
// cumsum, put, a stage with a choice by one condition, and an operation without text.
plain_loops print_loops(context &, const stage &, const std::string &symbol);

}  // namespace qkv::codegen
