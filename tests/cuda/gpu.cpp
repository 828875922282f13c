// SPDX-License-Identifier: BSL-1.0
#include "tests/cuda/gpu.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "tests/catch.hpp"

namespace cuda_tests {

gpu::gpu(const char *variable, const char *value) {
  const char *found = variable ? std::getenv(variable) : nullptr;
  const std::string before = found ? found : "";
  if (variable) setenv(variable, value, 1);
  // The environment is read once per load: another test's library must be gone.
  REQUIRE(dlopen(QKV_CUDA_EMULATOR, RTLD_NOW | RTLD_NOLOAD) == nullptr);
  library_ = dlopen(QKV_CUDA_EMULATOR, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library_);
  require("cuInit", 0u);
  require("cuCtxCreate_v2", &context_, 0u, 0);
  if (found) setenv(variable, before.c_str(), 1);
  if (variable && !found) unsetenv(variable);
}

gpu::~gpu() {
  (void)call("cuCtxDestroy_v2", context_);
  dlclose(library_);
}

void *gpu::symbol(const char *name) {
  void *&found = symbols_[name];
  if (!found) found = dlsym(library_, name);
  if (!found) throw std::runtime_error(std::string("the library has no ") + name);
  return found;
}

void gpu::must(int result, const char *name) {
  if (result) throw std::runtime_error(std::string(name) + ": " + message());
}

std::string gpu::message() {
  const char *text = "";
  (void)call("cuGetErrorString", 700, &text);
  return text;
}

address gpu::allocate(std::size_t bytes) {
  address p = 0;
  require("cuMemAlloc_v2", &p, bytes);
  return p;
}

void *gpu::kernel(const std::string &ptx, const char *name) {
  void *module = nullptr, *function = nullptr;
  require("cuModuleLoadData", &module, static_cast<const void *>(ptx.c_str()));
  require("cuModuleGetFunction", &function, module, name);
  return function;
}

std::string gpu::launch_with(void *kernel, unsigned blocks, unsigned threads, void **args) {
  int result = call("cuLaunchKernel", kernel, blocks, 1u, 1u, threads, 1u, 1u, 0u,
                    static_cast<void *>(nullptr), args, static_cast<void **>(nullptr));
  if (!result) result = call("cuCtxSynchronize");
  return result ? message() : "";
}

std::string entry(const std::string &parameters, const std::string &body) {
  std::string list;
  for (std::size_t from = 0; from < parameters.size();) {
    auto end = parameters.find(", ", from);
    if (end == std::string::npos) end = parameters.size();
    list += (from ? ", .param ." : ".param .") + parameters.substr(from, end - from);
    from = end + 2;
  }
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(" + list +
         ")\n{\n.reg .pred %p<40>;\n.reg .b16 %h<40>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n"
         ".reg .b64 %d<40>;\n.reg .f64 %e<40>;\n" +
         body + "\nret;\n}\n";
}

std::uint64_t value(gpu &g, const std::string &instructions, std::uint64_t a, std::uint64_t b,
                    std::uint64_t c) {
  constexpr unsigned threads = 33;
  std::string body =
      "ld.param.u64 %d30, [in];\nld.param.u64 %d31, [out];\nmov.u32 %r31, %tid.x;\n"
      "mad.wide.u32 %d31, %r31, 8, %d31;\nmov.b64 %d10, 0;\n";
  for (int n = 0; n < 3; ++n)
    for (const auto &[type, name] :
         {std::pair{"b16", "h"}, {"b32", "r"}, {"f32", "f"}, {"b64", "d"}, {"f64", "e"}})
      body += std::string("ld.global.") + type + " %" + name + std::to_string(n) + ", [%d30+" +
              std::to_string(8 * n) + "];\n";
  body += instructions + "\n";
  const auto names = [&](const char *reg) { return instructions.find(reg) != std::string::npos; };
  if (names("%p10")) body += "selp.b32 %r10, 1, 0, %p10;\n";
  if (names("%d10") || names("%e10"))
    body += names("%e10") ? "st.global.f64 [%d31], %e10;" : "st.global.b64 [%d31], %d10;";
  else if (names("%f10"))
    body += "st.global.b64 [%d31], %d10;\nst.global.f32 [%d31], %f10;";
  else if (names("%h10"))
    body += "st.global.b64 [%d31], %d10;\nst.global.b16 [%d31], %h10;";
  else
    body += "st.global.b64 [%d31], %d10;\nst.global.b32 [%d31], %r10;";
  const address in = g.upload<std::uint64_t>({a, b, c}), out = g.allocate(threads * 8);
  const std::string wrong = g.launch(g.kernel(entry("u64 in, u64 out", body)), 1, threads, in, out);
  if (!wrong.empty()) throw std::runtime_error(wrong);
  const auto all = g.download<std::uint64_t>(out, threads);
  for (const std::uint64_t x : all) REQUIRE(x == all[0]);
  g.require("cuMemFree_v2", in);
  g.require("cuMemFree_v2", out);
  return all[0];
}

std::vector<std::uint32_t> lanes(gpu &g, const std::string &body,
                                 const std::vector<std::uint32_t> &in) {
  const auto threads = static_cast<unsigned>(in.size());
  const address from = g.upload(in), to = g.allocate(threads * 4);
  const std::string text = entry("u64 in, u64 out", R"(
    ld.param.u64 %d30, [in];
    ld.param.u64 %d31, [out];
    mov.u32 %r9, %tid.x;
    mad.wide.u32 %d30, %r9, 4, %d30;
    mad.wide.u32 %d31, %r9, 4, %d31;
    ld.global.b32 %r0, [%d30];
    )" + body + "\nst.global.b32 [%d31], %r10;");
  const std::string wrong = g.launch(g.kernel(text), 1, threads, from, to);
  if (!wrong.empty()) throw std::runtime_error(wrong);
  return g.download<std::uint32_t>(to, threads);
}

void check(const std::vector<known> &table) {
  gpu g;
  for (const known &k : table) {
    INFO(k.instruction << " of " << std::hex << k.a << ", " << k.b << ", " << k.c);
    CHECK(value(g, k.instruction, k.a, k.b, k.c) == k.expected);
  }
}

}  // namespace cuda_tests
