// SPDX-License-Identifier: BSL-1.0
#pragma once
// All checks of one spec. Each check returns an empty text, or one line whose beginning, up to the
// first colon, is the kind of failure.
#include <cstdint>
#include <qkv/options.hpp>
#include <string>
#include <vector>

#include "tests/fuzz/recipe.hpp"
#include "tests/fuzz/rewritten.hpp"

namespace qkv::fuzz {

// Compares the interpreter's results before and after each rewrite and stage; makes sheets and
// pictures.
std::string wrong_meaning(const recipe &, std::uint64_t seed,
                          const std::vector<rewrite> &rewrites = all_rewrites(),
                          const cut & = codegen::cut_into_stages);

// Compares the spec's gradient with finite differences, and the interpreter's results before and
// after each rewrite and stage of the gradient. Specs that it refuses, or whose results are not
// finite, pass.
std::string wrong_gradient(const recipe &, std::uint64_t seed);

struct compiled_check {
  std::uint64_t seed = 0;
  device on = device::host;
  bool special = false;   // with NaN and infinities
  bool gradient = false;  // of the spec; one that is refused passes
  std::string folder;     // for the files that are written; emptied afterwards
  int seconds = 120;      // before the child process is killed
  double work = 4e6;      // multiplications of a call
  // For tests: replaces the program that is compiled.
  std::function<codegen::program(codegen::program)> mistake = {};
};

// Compiles the spec, calls it at many sizes and compares it with the interpreter, in a child
// process.
std::string wrong_when_compiled(const recipe &, const compiled_check &);

// True if specs can be called on a device. A child process tries: children of a process that used a
// device cannot use it.
bool can_run_on(device);

// "fold_scale" for "fold_scale: O[3] is 2, not 1"; for errors of the build, their first words.
std::string kind_of(const std::string &wrong);

}  // namespace qkv::fuzz
