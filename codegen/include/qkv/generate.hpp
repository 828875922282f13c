#pragma once
// The main() of a generator: qkv_add_kernels writes one that calls this with the kernels of a spec.
//
//   generator list                                                      one kernel per line
//   generator kernel NAME --out DIR --targets host,cuda,opencl          DIR/NAME.a, DIR/NAME.sheet.txt
//   generator library --name LIB --out DIR --targets host,cuda,opencl   DIR/LIB.kernels.h, DIR/LIB_kernels.c
//
// `kernel` does nothing when neither the kernel, nor the targets, nor the code generator have changed since DIR/NAME.a
// was written. Further options of `kernel`: --stmt and --assembly also write the lowered loops and the assembly.
#include <string>
#include <type_traits>
#include <vector>

#include "codegen/program/from_graph.hpp"
#include "codegen/program/program.hpp"

namespace qkv::codegen {

// A kernel that is traced on request, so that one wrong kernel does not prevent the others from
// being built.
struct traceable {
  std::string name;
  program (*trace)();
};
template <const auto &Kernel>
traceable traceable_of() {
  return {std::string(std::remove_cvref_t<decltype(Kernel)>::name),
          [] { return make_program(Kernel); }};
}

// Returns the exit status; prints errors to stderr.
int generate(int argc, char **argv, const std::vector<traceable> &kernels);

}  // namespace qkv::codegen
