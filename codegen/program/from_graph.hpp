#pragma once
// From the language to the code generator: traces a kernel and makes its graph a program.
#include <qkv/core/kernel.hpp>
#include <span>
#include <stdexcept>
#include <string>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Axes in the order of their first appearance in the signature, then in the steps; steps that no
// output needs are left out, arguments never. Throws std::invalid_argument when two axes of
// different size have one name.
program program_of(sv name, std::span<const core::argument> arguments,
                   std::span<const core::argument> outputs, const core::graph &);

// Errors while the kernel is traced name the kernel, as all others do.
template <class Kernel>
program make_program(const Kernel &) {
  const core::graph g = [] {
    try {
      return Kernel::trace();
    } catch (const std::invalid_argument &e) {
      throw std::invalid_argument(std::string(Kernel::name) + ": " + e.what());
    }
  }();
  return program_of(Kernel::name, Kernel::arguments, Kernel::outputs, g);
}

}  // namespace qkv::codegen
