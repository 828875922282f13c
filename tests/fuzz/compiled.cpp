// SPDX-License-Identifier: BSL-1.0
#include "tests/fuzz/compiled.hpp"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <qkv/registry.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/emit/objects.hpp"
#include "codegen/emit/tables.hpp"
#include "codegen/machines/machines.hpp"

namespace qkv::fuzz {

std::string host_targets(bool best) {
  if (!best || !__builtin_cpu_supports("avx512bw")) return "x86-64-v3";
  if (!__builtin_cpu_supports("avx512bf16")) return "x86-64-v4";
  if (__builtin_cpu_supports("amx-bf16")) return "x86-64-v4,sapphirerapids";
  return __builtin_cpu_supports("sse4a") ? "x86-64-v4,zen4" : "x86-64-v4";
}

namespace {

void write(const std::string &path, const std::string &text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

// Runs a program without a shell. Throws if it fails.
void run(std::vector<std::string> words) {
  std::vector<char *> arguments;
  for (std::string &word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0 ||
      waitpid(child, &status, 0) != child || status != 0)
    throw std::runtime_error(words[0] + " failed");
}

}  // namespace

const qkv_kernel &compiled(const codegen::program &p, const std::string &list,
                           const std::string &folder) {
  const auto targets = codegen::targets_of(list);
  const codegen::plan made = codegen::plan_of(p);
  codegen::object_options options;
  if (const char *compiler = std::getenv("QKV_FUZZ_CUDA_COMPILER"))
    options.cuda_compiler = compiler;
  const auto planned = codegen::plans_on(made, targets, {!options.cuda_compiler.empty()});
  codegen::write_objects(planned, folder, p.name, options, codegen::scratch());
  const std::string library = "lib" + p.name, base = folder + "/" + library;
  write(base + ".kernels.h", codegen::c_header(library, {p}));
  write(base + ".c", codegen::c_tables(library, {planned}));
  run({QKV_C_COMPILER, "-shared", "-fPIC", "-O0", "-w", "-I" QKV_ROOT "/runtime", "-o",
       base + ".so", base + ".c", "-Wl,--whole-archive", folder + "/" + p.name + ".a",
       "-Wl,--no-whole-archive"});
  if (!dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL))
    throw std::runtime_error(std::string("cannot load: ") + dlerror());
  const auto found = kernels(p.name);
  if (found.empty()) throw std::runtime_error(p.name + " was not registered");
  return *found.back();
}

}  // namespace qkv::fuzz
