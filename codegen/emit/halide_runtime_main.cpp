// SPDX-License-Identifier: BSL-1.0
// Writes Halide's own runtime, which all kernels of a program share, for the processor of a target
// and with every device: qkv_halide_runtime_generator DIR TARGET
#include <Halide.h>

#include <cstdio>

#include "codegen/machines/halide_target.hpp"
#include "codegen/machines/machines.hpp"
#include "codegen/process/scratch.hpp"

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s DIR TARGET\n", argv[0]);
    return 2;
  }
  try {
    using Halide::Target;
    const Target code = qkv::codegen::halide_target(qkv::codegen::targets_of(argv[2])[0]);
    const Target runtime(code.os, code.arch, code.bits,
                         {Target::UserContext, Target::CUDA, Target::OpenCL});
    const qkv::codegen::scratch folder;
    Halide::compile_standalone_runtime(folder.path("halide_runtime.a"), runtime);
    folder.publish("halide_runtime.a", argv[1]);
    return 0;
  } catch (const Halide::Error &e) {  // not a std::exception
    std::fprintf(stderr, "%s\n", e.what());
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  return 1;
}
