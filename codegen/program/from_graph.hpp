#pragma once
// From the graph that dsl/ traces to a program: axes numbered, aliases resolved, conditions that the call must check.
#include <string_view>

#include "codegen/program/program.hpp"
#include <qkv/core/graph.hpp>

namespace qkv::codegen {

// Throws std::runtime_error when two axes of one name have different sizes.
program program_from_graph(std::string_view name, const graph &g);

// The program of a kernel of the language; traces it.
template <class Kernel>
program make_program(const Kernel &) {
  return program_from_graph(Kernel::name, Kernel::trace());
}

}  // namespace qkv::codegen
