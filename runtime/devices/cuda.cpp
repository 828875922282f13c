// SPDX-License-Identifier: BSL-1.0
// CUDA, through the driver's own library.
#include <cstdlib>

#include "compiled/user_context.hpp"
#include "devices/cuda_driver.hpp"
#include "devices/device_kind.hpp"

namespace qkv::detail {

void *cuda_driver() {
  static void *const library = [] {
    // The driver compiles kernels with at most 64 registers by default: theirs would spill.
    setenv("HL_CUDA_JIT_MAX_REGISTERS", "255", 0);
    return first_of({"libcuda.so.1", "libcuda.so"});
  }();
  return library;
}

namespace {

// As CUDA's own runtime does: the primary context of the first device, which other libraries of the
// process share. It stays until the process ends.
void *primary_context() {
  static void *const primary = [] {
    const auto init = cuda_function<driver_function<unsigned>>("cuInit");
    const auto get = cuda_function<driver_function<int *, int>>("cuDeviceGet");
    const auto retain = cuda_function<driver_function<void **, int>>("cuDevicePrimaryCtxRetain");
    int device = 0;
    void *made = nullptr;
    const bool ok =
        init && get && retain && init(0) == 0 && get(&device, 0) == 0 && retain(&made, device) == 0;
    return ok ? made : nullptr;
  }();
  return primary;
}

}  // namespace

void *context_of_thread() {
  static const auto get = cuda_function<driver_function<void **>>("cuCtxGetCurrent");
  void *current = nullptr;
  return get && get(&current) == 0 && current ? current : primary_context();
}

current_context::current_context(void *context) {
  static const auto push = cuda_function<driver_function<void *>>("cuCtxPushCurrent_v2");
  pushed_ = push && context && push(context) == 0;
}

current_context::~current_context() {
  static const auto pop = cuda_function<driver_function<void **>>("cuCtxPopCurrent_v2");
  void *popped = nullptr;
  if (pushed_ && pop) (void)pop(&popped);
}

namespace {

handler<halide_cuda_acquire_context_t> acquire;
handler<halide_cuda_release_context_t> release;
handler<halide_cuda_get_stream_t> stream;

int on_acquire(void *user, void **result, bool create) {
  const user_context *c = user_context::of(user);
  *result = c ? c->how.device_context : nullptr;
  return *result ? 0 : acquire.before(user, result, create);
}

int on_release(void *user) {
  const user_context *c = user_context::of(user);
  return c && c->how.device_context ? 0 : release.before(user);
}

int on_stream(void *user, void *cuda_context, void **result) {
  const user_context *c = user_context::of(user);
  if (!c || !c->how.device_stream) return stream.before(user, cuda_context, result);
  *result = c->how.device_stream;
  return 0;
}

void cuda_take_over() {
  acquire.install(halide_set_cuda_acquire_context, on_acquire);
  release.install(halide_set_cuda_release_context, on_release);
  stream.install(halide_set_cuda_get_stream, on_stream);
}

void cuda_give_back() {
  acquire.give_back();
  release.give_back();
  stream.give_back();
}

const halide_device_interface_t *cuda_code() {
  return halide_cuda_device_interface ? halide_cuda_device_interface() : nullptr;
}

status cuda_enter(const char *, options &how) {
  if (!how.device_context) how.device_context = context_of_thread();
  return {};
}

std::uintptr_t cuda_handle(void *user, halide_buffer_t *b) {
  return halide_cuda_get_device_ptr(user, b);
}

void cuda_trim(const options &how) {
  if (!halide_cuda_release_unused_device_allocations) return;
  // Frees in the thread's context, which need not be that of the memory: addresses are unique.
  const current_context current(how.device_context);
  user_context c(how);
  if (current.ok()) (void)halide_cuda_release_unused_device_allocations(&c);
}

}  // namespace

constinit const device_kind cuda_kind{.number = QKV_CUDA,
                                      .name = "cuda",
                                      .has_addresses = true,
                                      .library = "libcuda",
                                      .driver = cuda_driver,
                                      .code = cuda_code,
                                      .enter = cuda_enter,
                                      .handle = cuda_handle,
                                      .trim = cuda_trim,
                                      .take_over = cuda_take_over,
                                      .give_back = cuda_give_back};

}  // namespace qkv::detail
