// SPDX-License-Identifier: BSL-1.0
// Printed CUDA kernels: loaded once for each context, launched in the stream of the call.
#include <qkv/kernel.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "compiled/halide.hpp"
#include "compiled/user_context.hpp"
#include "devices/cuda_driver.hpp"

namespace qkv::detail {
namespace {

constexpr int failed = halide_error_code_gpu_device_error;

// The driver's functions; their names are those of CUDA.
struct driver {
  driver_function<void **, const char *> module_load =
      cuda_function<driver_function<void **, const char *>>("cuModuleLoadData");
  driver_function<void **, void *, const char *> get_function =
      cuda_function<driver_function<void **, void *, const char *>>("cuModuleGetFunction");
  driver_function<void *, int, int> set_attribute =
      cuda_function<driver_function<void *, int, int>>("cuFuncSetAttribute");
  driver_function<int *> get_device = cuda_function<driver_function<int *>>("cuCtxGetDevice");
  driver_function<int *, int, int> device_attribute =
      cuda_function<driver_function<int *, int, int>>("cuDeviceGetAttribute");
  driver_function<void *, unsigned long long *> context_id =
      cuda_function<driver_function<void *, unsigned long long *>>("cuCtxGetId");
  driver_function<int, const char **> name_of =
      cuda_function<driver_function<int, const char **>>("cuGetErrorName");
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                void *, void **, void **) = cuda_function<decltype(launch)>("cuLaunchKernel");

  bool ok() const {
    return module_load && get_function && set_attribute && get_device && device_attribute && launch;
  }
  static const driver &get() {
    static const driver all;
    return all;
  }
};

constexpr int most_dynamic_shared_bytes = 8;                 // of a function
constexpr int capability_major = 75, capability_minor = 76,  // of a device
    most_shared_bytes = 97, all_multiprocessors = 16;
constexpr std::uint32_t shared_without_asking = 48 * 1024;

int report(user_context &c, const char *name, const char *what, int error) {
  const char *text = nullptr;
  if (driver::get().name_of) (void)driver::get().name_of(error, &text);
  std::array<char, 200> message{};
  *fmt::format_to_n(message.data(), message.size() - 1, "{}: {}: {}", name, what,
                    text ? text : "no name")
       .out = 0;
  c.report(message.data());
  return failed;
}

// The GPU of the current context; zeros where the driver does not tell.
struct gpu {
  int capability = 0;  // 80 for 8.0
  int shared_bytes = 0;
  int multiprocessors = 0;

  bool takes(const qkv_cuda_code &x) const {
    return (x.exact ? capability == x.capability : capability >= x.capability) &&
           x.shared_bytes <= shared_bytes &&
           100 * x.blocks >= std::int64_t{x.fills} * multiprocessors;
  }
};

gpu current_gpu() {
  const driver &d = driver::get();
  int device = 0, major = 0, minor = 0, shared = 0, multiprocessors = 0;
  if (d.get_device(&device) || d.device_attribute(&major, capability_major, device) ||
      d.device_attribute(&minor, capability_minor, device) ||
      d.device_attribute(&shared, most_shared_bytes, device) ||
      d.device_attribute(&multiprocessors, all_multiprocessors, device))
    return {};
  return {10 * major + minor, shared, multiprocessors};
}

// The functions of one PTX.
struct functions {
  void *kernel = nullptr, *merge = nullptr;
};

// The GPU of a context, asked once, and what was loaded there.
struct loaded {
  gpu on;
  std::map<std::pair<const char *, std::uint64_t>, functions> known;  // by PTX and its hash
};

std::uintptr_t number_of(void *context) {
  unsigned long long id = 0;
  const auto ask = driver::get().context_id;
  return ask && ask(context, &id) == 0 ? static_cast<std::uintptr_t>(id)
                                       : reinterpret_cast<std::uintptr_t>(context);
}

std::mutex loading;

// Of the call's context. A context is known by its number: its address may be that of an earlier
// one. `loading` is held.
loaded &loaded_in(const user_context &c) {
  static auto *const all = new std::map<std::uintptr_t, loaded>;  // the driver unloads what is left
  loaded &own = (*all)[number_of(c.how.device_context)];
  if (own.on.capability == 0) own.on = current_gpu();
  return own;
}

int load(user_context &c, const char *name, const qkv_cuda_code &code, functions &made) {
  const driver &d = driver::get();
  void *module = nullptr;
  functions f;
  if (const int e = d.module_load(&module, code.ptx))
    return report(c, name, "the driver cannot compile it", e);
  if (const int e = d.get_function(&f.kernel, module, name))
    return report(c, name, "cuModuleGetFunction", e);
  if (code.merge_threads > 0)
    if (const int e = d.get_function(&f.merge, module, fmt::format("{}_merge", name).c_str()))
      return report(c, name, "cuModuleGetFunction of its merge", e);
  if (static_cast<std::uint32_t>(code.shared_bytes) > shared_without_asking)
    if (const int e = d.set_attribute(f.kernel, most_dynamic_shared_bytes, code.shared_bytes))
      return report(c, name,
                    fmt::format("{} bytes of shared memory a block", code.shared_bytes).c_str(), e);
  made = f;
  return 0;
}

// The arguments as the driver takes them: addresses on the device, and numbers. Throws
// std::bad_alloc.
class argument_list {
 public:
  argument_list(user_context &c, void **arguments, const std::int8_t *is_buffer) {
    std::size_t n = 0;
    while (arguments[n]) ++n;
    addresses_.resize(n);
    values_.assign(arguments, arguments + n);
    for (std::size_t k = 0; k < n; ++k) {
      if (!is_buffer[k]) continue;
      addresses_[k] = halide_cuda_get_device_ptr(&c, static_cast<halide_buffer_t *>(arguments[k]));
      values_[k] = &addresses_[k];
    }
  }
  void **values() { return values_.data(); }

 private:
  std::vector<std::uintptr_t> addresses_;
  std::vector<void *> values_;
};

int launch(user_context &c, const char *name, void *function, std::int64_t blocks,
           std::int32_t threads, std::int32_t shared_bytes, argument_list &arguments) {
  const int e = driver::get().launch(
      function, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(threads), 1, 1,
      static_cast<unsigned>(shared_bytes), c.how.device_stream, arguments.values(), nullptr);
  return e ? report(c, name, "cuLaunchKernel", e) : 0;
}

// The first code for the call and its GPU. Throws std::bad_alloc.
int launch_first(user_context &c, const char *name, std::span<const qkv_cuda_code> codes,
                 void **arguments, const std::int8_t *is_buffer) {
  const current_context current(c.how.device_context);
  if (!driver::get().ok() || !current.ok())
    return report(c, name, "there is no context of CUDA", 0);
  std::unique_lock hold(loading);
  loaded &here = loaded_in(c);
  const auto code = std::ranges::find_if(
      codes, [&](const qkv_cuda_code &x) { return x.fits && here.on.takes(x); });
  if (code == codes.end()) {
    if (std::ranges::none_of(codes, [](const qkv_cuda_code &x) { return x.fits; }))
      return report(c, name, "no code was compiled for these sizes", 0);
    const qkv_cuda_code &last = codes.back();
    c.report(fmt::format("{}: built for GPUs of compute capability {}.{} and later with {} bytes "
                         "of shared memory a block; this one has {}.{} and {} bytes",
                         name, last.capability / 10, last.capability % 10, last.shared_bytes,
                         here.on.capability / 10, here.on.capability % 10, here.on.shared_bytes)
                 .c_str());
    return failed;
  }
  const std::int64_t most = std::max(code->blocks, code->merge_blocks);
  if (most > INT32_MAX) {
    c.report(fmt::format("{}: {} blocks are more than a grid has", name, most).c_str());
    return failed;
  }
  functions &f = here.known[{code->ptx, code->hash}];
  if (!f.kernel)
    if (const int e = load(c, name, *code, f)) return e;
  const functions own = f;
  hold.unlock();
  argument_list list(c, arguments, is_buffer);
  const int e = launch(c, name, own.kernel, code->blocks, code->threads, code->shared_bytes, list);
  if (e || code->merge_blocks == 0) return e;
  return launch(c, name, own.merge, code->merge_blocks, code->merge_threads, 0, list);
}

}  // namespace
}  // namespace qkv::detail

int qkv_cuda_launch(void *user, const char *name, const qkv_cuda_code *codes, std::int32_t n,
                    void **arguments, const std::int8_t *is_buffer) {
  using namespace qkv::detail;
  user_context *c = user_context::of(user);
  if (!c) return failed;
  try {
    return launch_first(*c, name, {codes, static_cast<std::size_t>(n)}, arguments, is_buffer);
  } catch (const std::bad_alloc &) {
    return halide_error_code_out_of_memory;
  }
}
