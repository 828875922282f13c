#include "devices/driver.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "compiled/context.hpp"
#include "process/fork.hpp"
#include "status/fail.hpp"

namespace qkv::detail {
namespace {

void *first_of(std::initializer_list<const char *> libraries) {
  for (const char *name : libraries) {
    if (void *handle = dlopen(name, RTLD_LAZY)) return handle;
  }
  return nullptr;
}

void *driver(device d) {
  static void *const cuda = first_of({"libcuda.so.1", "libcuda.so"});
  static void *const opencl = first_of({"libOpenCL.so.1", "libOpenCL.so"});
  return d == device::cuda ? cuda : opencl;
}

// Compiled code requests the development name of the driver, which machines that only run programs
// lack.
void *on_load_library(const char *name) {
  if (std::strstr(name, "libcuda")) {
    // The driver compiles kernels with at most 64 registers by default: theirs would spill.
    setenv("HL_CUDA_JIT_MAX_REGISTERS", "255", 0);
    return driver(device::cuda);
  }
  if (std::strstr(name, "libOpenCL")) return driver(device::opencl);
  return halide_default_load_library(name);
}

handler<halide_load_library_t> load_library;
handler<halide_cuda_acquire_context_t> acquire;
handler<halide_cuda_release_context_t> release;
handler<halide_cuda_get_stream_t> stream;

template <class... Argument>
using driver_function = int (*)(Argument...);  // returns 0 where it succeeds

template <class F>
F cuda_function(const char *name) {
  void *const library = driver(device::cuda);
  return library ? reinterpret_cast<F>(dlsym(library, name)) : nullptr;
}

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

int on_acquire(void *user, void **result, bool create) {
  const context *c = context::of(user);
  *result = c ? c->how.device_context : nullptr;
  return *result ? 0 : acquire.before(user, result, create);
}

int on_release(void *user) {
  const context *c = context::of(user);
  return c && c->how.device_context ? 0 : release.before(user);
}

int on_stream(void *user, void *cuda_context, void **result) {
  const context *c = context::of(user);
  if (!c || !c->how.device_stream) return stream.before(user, cuda_context, result);
  *result = c->how.device_stream;
  return 0;
}

}  // namespace

void take_over_devices() {
  if (halide_default_load_library)
    load_library.install(halide_set_custom_load_library, on_load_library);
  acquire.install(halide_set_cuda_acquire_context, on_acquire);
  release.install(halide_set_cuda_release_context, on_release);
  stream.install(halide_set_cuda_get_stream, on_stream);
}

void give_back_devices() {
  load_library.give_back();
  acquire.give_back();
  release.give_back();
  stream.give_back();
}

void *context_for(const options &how) {
  if (how.device_context) return how.device_context;
  static const auto get = cuda_function<driver_function<void **>>("cuCtxGetCurrent");
  void *current = nullptr;
  return get && get(&current) == 0 && current ? current : primary_context();
}

status use_device(const char *asks, options &how) {
  if (status s = present(asks, how.on); !s) return s;
  if (how.on == device::opencl && (how.device_context || how.device_stream))
    return fail(status_code::unsupported, "{}: OpenCL runs in the runtime's own context and queue",
                asks);
  take_over_halide();
  note_device_use();
  if (how.on == device::cuda) how.device_context = context_for(how);
  return {};
}

current_context::current_context(const options &how) {
  static const auto push = cuda_function<driver_function<void *>>("cuCtxPushCurrent_v2");
  void *const context = context_for(how);
  pushed_ = push && context && push(context) == 0;
}

current_context::~current_context() {
  static const auto pop = cuda_function<driver_function<void **>>("cuCtxPopCurrent_v2");
  void *popped = nullptr;
  if (pushed_ && pop) (void)pop(&popped);
}

bool is_device_error(int code) {
  switch (code) {
    case halide_error_code_copy_to_host_failed:
    case halide_error_code_copy_to_device_failed:
    case halide_error_code_device_malloc_failed:
    case halide_error_code_device_sync_failed:
    case halide_error_code_device_free_failed:
    case halide_error_code_no_device_interface:
    case halide_error_code_symbol_not_found:
    case halide_error_code_device_run_failed:
    case halide_error_code_gpu_device_error:
    case halide_error_code_device_wrap_native_failed:
    case halide_error_code_device_detach_native_failed:
    case halide_error_code_device_buffer_copy_failed:
      return true;
    default:
      return false;
  }
}

const halide_device_interface_t *interface_of(device d) {
  const auto get =
      d == device::cuda ? halide_cuda_device_interface : halide_opencl_device_interface;
  return get ? get() : nullptr;
}

const char *device_name(int d) {
  return d == QKV_CUDA     ? "cuda"
         : d == QKV_OPENCL ? "opencl"
         : d == QKV_HOST   ? "host"
                           : "a device that does not exist";
}

status present(const char *asks, device d) {
  if (d == device::host) return {};
  if (d != device::cuda && d != device::opencl)
    return fail(status_code::wrong_device, "{}: there is no device {}", asks, static_cast<int>(d));
  if (!interface_of(d))
    return fail(status_code::unsupported, "{}: nothing in this program was built for {}", asks,
                device_name(static_cast<int>(d)));
  if (!driver(d))
    return fail(status_code::no_device, "{}: no {} driver on this machine", asks,
                device_name(static_cast<int>(d)));
  if (devices_lost())
    return fail(status_code::device_failed,
                "{}: a process forked from one that used a device cannot use any", asks);
  return {};
}

}  // namespace qkv::detail
