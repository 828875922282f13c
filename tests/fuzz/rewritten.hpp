#pragma once
// A program before and after each rewrite, and cut into stages: no compiler.
#include <functional>
#include <string>
#include <vector>

#include "codegen/program/program.hpp"
#include "codegen/stages/stages.hpp"
#include "tests/fuzz/same.hpp"

namespace qkv::fuzz {

struct rewrite {
  std::string name;
  std::function<codegen::program(const codegen::program &)> run;
};

// Those of codegen::simplified, in its order. Tests put mistakes in the place of some.
std::vector<rewrite> all_rewrites();

// Empty, or which rewrite changed what: "fold_scale: O[3] is 2, not 1". `after` is the last program.
std::string wrong_rewrite(const codegen::program &, const meaning &, const std::vector<rewrite> &,
                          codegen::program *after = nullptr);

// What a stage reads is computed before it, each output is computed once, and the stages, computed one by one from what
// is stored, give the program's results.
using cut = std::function<codegen::stages(const codegen::program &)>;
std::string wrong_stages(const codegen::program &simplified, const meaning &,
                         const cut & = codegen::cut_into_stages);

// Sheets and pictures say something and do not throw.
std::string wrong_sheets(const codegen::program &, const codegen::size_map &);

}  // namespace qkv::fuzz
