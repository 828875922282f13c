// Writes Halide's own runtime, which all kernels of a program share: qkv_halide_runtime_generator DIR TARGETS
#include <Halide.h>

#include <cstdio>
#include <string>

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s DIR host,cuda,opencl\n", argv[0]);
    return 2;
  }
  std::string features = "x86-64-linux-user_context";
  const std::string targets = argv[2];
  for (const char *device : {"cuda", "opencl"})
    if (targets.find(device) != std::string::npos) features += std::string("-") + device;
  try {
    Halide::compile_standalone_runtime(std::string(argv[1]) + "/halide_runtime.a",
                                       Halide::Target(features));
  } catch (const Halide::Error &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
