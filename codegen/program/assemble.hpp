// SPDX-License-Identifier: BSL-1.0
#pragma once
// The last step of making a program, however its nodes were written down: removes dead steps, adds
// conditions.
#include "codegen/program/program.hpp"

namespace qkv::codegen {

// The axes and conditions alone: steps can be written anew.
program without_steps(program);

// Drops the steps that no output needs; arguments stay, used or not.
program without_dead_steps(program);

// Drops them and records the conditions that only the call can decide: a rename between axes of
// unrelated size, a split or merge with a size of the call. Throws std::invalid_argument when a
// static size cannot fit.
program assembled(program);

}  // namespace qkv::codegen
