// Writes Halide's own runtime, which all kernels of a program share: qkv_halide_runtime_generator DIR TARGETS
#include <Halide.h>

#include <cstdio>
#include <string>

#include "codegen/emit/scratch.hpp"

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s DIR host|aarch64,cuda,opencl\n", argv[0]);
    return 2;
  }
  const std::string targets = argv[2];
  const bool is_arm = targets.find("aarch64") != std::string::npos;
  std::string features = is_arm ? "arm-64-linux-user_context" : "x86-64-linux-user_context";
  for (const char *device : {"cuda", "opencl"})
    if (targets.find(device) != std::string::npos) features += std::string("-") + device;
  try {
    const qkv::codegen::scratch folder;
    Halide::compile_standalone_runtime(folder.path("halide_runtime.a"), Halide::Target(features));
    folder.publish("halide_runtime.a", argv[1]);
    return 0;
  } catch (const Halide::Error &e) {  // not a std::exception
    std::fprintf(stderr, "%s\n", e.what());
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
  return 1;
}
