#pragma once
// All that is checked of one spec. Each check returns nothing, or one line whose first words say what kind of failure it
// is, up to the first colon.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/recipe.hpp"
#include "tests/fuzz/rewritten.hpp"

namespace qkv::fuzz {

// The interpreter before and after each rewrite and stage, sheets and pictures.
std::string wrong_meaning(const recipe &, std::uint64_t seed,
                          const std::vector<rewrite> &rewrites = all_rewrites(),
                          const cut & = codegen::cut_into_stages);

struct compiled_check {
  std::uint64_t seed = 0;
  bool opencl = false;   // through OpenCL in place of the host
  bool special = false;  // with NaN and infinities
  std::string folder;    // for what is written; emptied afterwards
  int seconds = 120;     // before the child process is ended
  double work = 4e6;     // multiplications of a call
  // for tests: what is compiled in place of the program
  std::function<codegen::program(codegen::program)> mistake = {};
};

// Compiled, called at many sizes, compared with the interpreter: in a child process.
std::string wrong_when_compiled(const recipe &, const compiled_check &);

// "fold_scale" of "fold_scale: O[3] is 2, not 1"; of what the build says its first words.
std::string kind_of(const std::string &wrong);

}  // namespace qkv::fuzz
