#pragma once
// The last step of making a program, however its nodes were written down: dead steps out, conditions in.
#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Drops the steps that no output needs; arguments stay, used or not.
program without_dead_steps(program);

// Does that and records what only the call can decide: a rename between axes of unrelated
// size, a split or merge with a size of the call. Throws std::invalid_argument when a static size cannot fit.
program assembled(program);

}  // namespace qkv::codegen
