#pragma once
// For the tool of a generated library: sheet, reference and comparison of a kernel, from its spec.
//   return qkv::tool::main(argc, argv, {qkv::oracle_of(my::mha)});
#include "codegen/gradient/make_program.hpp"
#include "codegen/sheets/oracle.hpp"

namespace qkv {

template <class Kernel>
tool::entry oracle_of(const Kernel &kernel) {
  return codegen::oracle(codegen::make_program(kernel));
}

}  // namespace qkv
