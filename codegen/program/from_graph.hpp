// SPDX-License-Identifier: BSL-1.0
#pragma once
// From the language to the code generator: traces a kernel and makes its graph a program.
#include <algorithm>
#include <array>
#include <cstddef>
#include <qkv/core/kernel.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "codegen/program/program.hpp"

namespace qkv::codegen {

// Axes in the order of their first appearance in the signature, then in the steps; steps that no
// output needs are left out, arguments never. Throws std::invalid_argument when two axes of
// different size have one name.
program program_of(sv name, std::span<const core::argument> arguments,
                   std::span<const core::argument> outputs, const core::graph &);

// The steps of a kernel as a constant, unless only a running program can trace it. Compilers write
// no code for a formula that they trace themselves: that is half of what a spec takes to compile.
template <class Kernel>
struct traced_by_compiler {
  template <class K>
  static std::integral_constant<std::size_t, K::trace().nodes.size()> count_of(K *);
  static std::integral_constant<std::size_t, 0> count_of(void *);
  static constexpr std::size_t count = decltype(count_of(static_cast<Kernel *>(nullptr)))::value;
  static constexpr auto steps = [] {
    std::array<core::node, count> all{};
    if constexpr (count > 0) {
      const core::graph g = Kernel::trace();
      std::copy(g.begin(), g.end(), all.begin());
    }
    return all;
  }();
};

// Errors while the kernel is traced name the kernel, as all others do.
template <class Kernel>
program make_program(const Kernel &) {
  core::graph g;
  if constexpr (traced_by_compiler<Kernel>::count > 0) {
    constexpr const auto &steps = traced_by_compiler<Kernel>::steps;
    g.nodes.assign(steps.begin(), steps.end());
  } else {
    try {
      g = Kernel::trace();
    } catch (const std::invalid_argument &e) {
      throw std::invalid_argument(std::string(Kernel::name) + ": " + e.what());
    }
  }
  return program_of(Kernel::name, Kernel::arguments, Kernel::outputs, g);
}

}  // namespace qkv::codegen
