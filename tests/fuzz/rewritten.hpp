// SPDX-License-Identifier: BSL-1.0
#pragma once
// Compares a program before and after each rewrite, and cut into stages, without a compiler.
#include <functional>
#include <string>
#include <vector>

#include "codegen/plan/stages.hpp"
#include "codegen/program/program.hpp"
#include "tests/fuzz/same.hpp"

namespace qkv::fuzz {

struct rewrite {
  std::string name;
  std::function<codegen::program(const codegen::program &)> run;
};

// The rewrites of codegen::simplified, in its order. Tests replace some of them by mistakes.
std::vector<rewrite> all_rewrites();

// Empty, or the rewrite and what it changed, "fold_scale: O[3] is 2, not 1", or its error,
// "fold_scale throws: ..". `after` receives the last program.
std::string wrong_rewrite(const codegen::program &, const meaning &, const std::vector<rewrite> &,
                          codegen::program *after = nullptr);

// Checks that the operands of a stage are computed before it, that each output is computed once,
// and that the stages, computed one by one from stored steps, give the program's results.
using cut = std::function<codegen::stages(const codegen::program &)>;
std::string wrong_stages(const codegen::program &simplified, const meaning &,
                         const cut & = codegen::cut_into_stages);

// Checks that sheets and pictures are not empty and do not throw.
std::string wrong_sheets(const codegen::program &, const codegen::size_map &);

}  // namespace qkv::fuzz
