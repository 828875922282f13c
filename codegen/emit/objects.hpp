#pragma once
// Compiled code: one archive per kernel that holds every target, each instruction set of the host apart.
#include <string>
#include <vector>

#include "codegen/emit/scratch.hpp"
#include "codegen/machines/machines.hpp"
#include "codegen/plan/plan.hpp"

namespace qkv::codegen {

struct object_options {
  bool stmt = false;      // DIR/STEM.<target>.stmt: the lowered loops
  bool assembly = false;  // DIR/STEM.<target>.s
};

// Writes DIR/STEM.a, its parts into the temporary folder first. Throws Halide::Error or
// std::runtime_error.
void write_objects(const plan &, const std::vector<target> &, const std::string &dir,
                   const std::string &stem, const object_options &, const scratch &);

// The C name of the compiled code of a kernel for a back end; NAME_argv takes an array of arguments.
std::string symbol_of(const program &, backend);

}  // namespace qkv::codegen
