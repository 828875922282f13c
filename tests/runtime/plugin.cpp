// SPDX-License-Identifier: BSL-1.0
// A library of kernels that is loaded while a program runs. With QKV_PLUGIN_RUNTIME it has a
// runtime of its own and calls its kernel itself; otherwise it uses the program's runtime. The
// kernel's results tell which version of it was called.
#include <qkv/kernel.h>

#include <cstdint>

#ifdef QKV_PLUGIN_RUNTIME
#include "call/libraries.hpp"
#include "plugin_spec.hpp"
#include "process/threads.hpp"
#endif

namespace {

struct view {  // the part of halide_buffer_t that matters here
  std::uint64_t device;
  const void *interface;
  float *host;
};

// Y = X + version, for one element.
int enter(void **args) {
  *static_cast<view *>(args[2])->host = *static_cast<view *>(args[1])->host + QKV_PLUGIN_VERSION;
  return 0;
}

const std::int32_t only[] = {0};
const qkv_axis axes[] = {{"one", 1, 0}};
const qkv_argument arguments[] = {{"X", QKV_IN, QKV_F32, 1, only},
                                  {"Y", QKV_OUT, QKV_F32, 1, only}};
const qkv_variant variants[] = {{"any", "host", nullptr, enter, 0, nullptr}};
const qkv_kernel kernel = {QKV_ABI, "plugged", QKV_PLUGIN_FINGERPRINT, 1, 2, 0, 1, axes, arguments,
                           nullptr, variants};
const qkv_kernel *const kernels[] = {&kernel};
qkv_library library = {QKV_PLUGIN_NAME, kernels, 1, 0, nullptr};

__attribute__((constructor(101))) void loaded() { qkv_register_library(&library); }
__attribute__((destructor(101))) void unloaded() { qkv_unregister_library(&library); }

}  // namespace

#ifdef QKV_PLUGIN_RUNTIME
// Calls the kernel and runs a loop on several threads. Returns the version, or -1.
extern "C" int plugin_call() {
  plugin::tensor<plugin::one> X, Y;
  X.fill(0);
  if (!qkv::call<plugin::plugged>(X, Y).ok()) return -1;
  qkv::detail::parallel_for(100, 4, [](void *, int) {}, nullptr);
  return static_cast<int>(Y(0));
}

// Calls a function while the runtime's list of libraries is locked.
extern "C" void plugin_locked(void (*f)(void *), void *state) {
  const qkv::detail::registered_kernels hold;
  f(state);
}
#endif
