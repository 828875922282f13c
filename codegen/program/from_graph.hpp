#pragma once
// From the language to the code generator: traces a kernel and makes its graph a program.
#include <qkv/core/kernel.hpp>
#include <span>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Axes in the order of their first appearance in the signature, then in the steps; steps that no output needs are left
// out, arguments never. Throws std::invalid_argument when one name stands for two axes of different size.
program program_of(sv name, std::span<const argument> arguments, std::span<const argument> outputs,
                   const graph &);

template <class Kernel>
program make_program(const Kernel &) {
  return program_of(Kernel::name, Kernel::arguments, Kernel::outputs, Kernel::trace());
}

}  // namespace qkv::codegen
