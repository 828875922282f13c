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

std::string architecture_of(const Halide::Target &t) {
  return t.arch == Halide::Target::X86 ? "x86_64"
         : t.os == Halide::Target::OSX ? "arm64"
                                       : "aarch64";
}

void require_machine(const loops_compiler &c, const scratch &folder) {
  const std::string log = folder.path("machine"), wanted = architecture_of(c.target);
  if (!run_program({c.program, "-dumpmachine"}, log))
    throw std::runtime_error(
        fmt::format("--writer plain: {} does not run: {}", c.program, first_error(log)));
  std::string machine;
  std::ifstream(log) >> machine;
  const bool is_for_mac = machine.find("darwin") != std::string::npos;
  if (!machine.starts_with(wanted) || is_for_mac != (c.target.os == Halide::Target::OSX))
    throw std::runtime_error(fmt::format("--writer plain: {} compiles for {}, not for {}",
                                         c.program, machine, c.target.to_string()));
}

}  // namespace

std::string compile_loops(const std::vector<std::string> &loops, const loops_compiler &c,
                          const std::string &name, const scratch &folder) {
  require_machine(c, folder);
  const std::string source = c.keep.empty() ? folder.path(name + ".loops.cpp") : c.keep,
                    object = folder.path(name + ".loops.o"), log = folder.path(name + ".log");
  std::ofstream file(source);
  file << functions[0].text;
  // Each has a closure and a task of its own.
  for (std::size_t k = 0; k < loops.size(); ++k)
    file << fmt::format("namespace stage_{} {{\n{}}}\n", k, loops[k]);
  if (!file.flush()) throw std::runtime_error("cannot write " + source);
  // Whole numbers wrap around, and each operation rounds once, as in code by Halide.
  if (!run_program({c.program, "-std=c++17", "-O2", "-fPIC", "-fwrapv", "-ffp-contract=off",
                    "-fno-exceptions", "-c", source, "-o", object},
                   log))
    throw std::runtime_error(
        fmt::format("{} could not compile printed loops: {}", c.program, first_error(log)));
  return object;
}

}  // namespace qkv::codegen
