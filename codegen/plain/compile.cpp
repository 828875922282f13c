// SPDX-License-Identifier: BSL-1.0
#include "codegen/plain/compile.hpp"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

#include "codegen/process/child.hpp"
#include "codegen/process/first_error.hpp"

namespace qkv::codegen {
namespace {

constexpr struct {
  const char *name, *text;
} functions[] = {
#include "loops_files.inc"
};

}  // namespace

void compile_loops(const std::vector<std::string> &loops, const std::string &compiler,
                   const std::string &name, const scratch &folder) {
  const std::string source = folder.path(name + ".cpp"), log = folder.path(name + ".log");
  std::ofstream file(source);
  file << functions[0].text;
  // Each has a closure and a task of its own.
  for (std::size_t k = 0; k < loops.size(); ++k)
    file << fmt::format("namespace stage_{} {{\n{}}}\n", k, loops[k]);
  file.close();
  // Whole numbers wrap around, and each operation rounds once, as in code by Halide.
  if (!run_program({compiler, "-std=c++17", "-O2", "-fPIC", "-fwrapv", "-ffp-contract=off",
                    "-fno-exceptions", "-c", source, "-o", folder.path(name + ".o")},
                   log))
    throw std::runtime_error(
        fmt::format("{} could not compile printed loops: {}", compiler, first_error(log)));
}

}  // namespace qkv::codegen
