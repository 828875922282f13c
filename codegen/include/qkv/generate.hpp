// SPDX-License-Identifier: BSL-1.0
#pragma once
// The main() of a generator: qkv_add_kernels writes one that calls this with the kernels of a spec.
//
//   generator list                                                      one kernel per line
//   generator kernel ID --out DIR --targets host,cuda,opencl            DIR/ID.a, DIR/ID.sheet.txt
//   generator library --name LIB --out DIR --targets host,cuda,opencl   DIR/LIB.kernels.h,
//                                                                       DIR/LIB_kernels.c,
//                                                                       DIR/LIB_machines.cpp
//
// `kernel` does nothing when neither the kernel, nor the targets, nor the options, nor the code
// generator have changed since DIR/ID.a was written. ID is the identifier of a kernel in C++: its
// name, unless it is derived from another kernel. Further options of `kernel`: --stmt and
// --assembly also write the lowered loops and the assembly; --spec FILE names the spec in errors.
// Options of both: --machine FILE adds a machine; --cuda-compiler PATH, --writer plain[:STAGES] and
// --compiler PATH choose who writes the code, which the sheets in DIR/LIB_machines.cpp name.
#include <vector>

#include "codegen/program/traceable.hpp"

namespace qkv::codegen {

// Returns the exit status; prints errors to stderr.
int generate(int argc, char **argv, const std::vector<traceable> &kernels);

}  // namespace qkv::codegen
