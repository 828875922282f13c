// SPDX-License-Identifier: BSL-1.0
#include "tests/kernels/guarded_opencl.hpp"

#include <HalideRuntime.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace qkv::testing {
namespace {

// The part of OpenCL's C interface that is used here.
using handle = void *;
constexpr std::uint64_t use_host_ptr = 1 << 3, copy_host_ptr = 1 << 5, cpu = 1 << 1;
constexpr std::uint32_t context_devices = 0x1081, device_type = 0x1000;

std::atomic<guard> where = guard::after;
std::atomic<std::size_t> buffers = 0;
void *library = nullptr;

template <class F>
F symbol(const char *name) {
  return reinterpret_cast<F>(halide_default_get_library_symbol(library, name));
}

bool is_cpu(handle context) {
  const auto context_info =
      symbol<int (*)(handle, std::uint32_t, std::size_t, void *, std::size_t *)>(
          "clGetContextInfo");
  const auto device_info =
      symbol<int (*)(handle, std::uint32_t, std::size_t, void *, std::size_t *)>("clGetDeviceInfo");
  handle device = nullptr;
  std::uint64_t type = 0;
  return context_info && device_info &&
         context_info(context, context_devices, sizeof device, &device, nullptr) == 0 &&
         device_info(device, device_type, sizeof type, &type, nullptr) == 0 && (type & cpu);
}

struct lent {
  guarded_memory &from;
  void *memory;
};

void give_back(handle, void *data) {
  const auto *l = static_cast<lent *>(data);
  l->from.give_back(l->memory);
  delete l;
}

handle create_buffer(handle context, std::uint64_t flags, std::size_t bytes, void *host,
                     int *error) {
  const auto create =
      symbol<handle (*)(handle, std::uint64_t, std::size_t, void *, int *)>("clCreateBuffer");
  const auto when_gone =
      symbol<int (*)(handle, void (*)(handle, void *), void *)>("clSetMemObjectDestructorCallback");
  if (host || (flags & (use_host_ptr | copy_host_ptr)) || !when_gone || !is_cpu(context))
    return create(context, flags, bytes, host, error);
  guarded_memory &from = guarded_memory_of(where);
  void *memory = from.take(bytes);
  if (!memory) return create(context, flags, bytes, host, error);
  const handle made = create(context, flags | use_host_ptr, bytes, memory, error);
  if (!made) {
    from.give_back(memory);
  } else {
    when_gone(made, give_back, new lent{from, memory});
    ++buffers;
  }
  return made;
}

void *symbol_of(void *lib, const char *name) {
  if (std::strcmp(name, "clCreateBuffer") != 0) return halide_default_get_library_symbol(lib, name);
  library = lib;
  return reinterpret_cast<void *>(create_buffer);
}

}  // namespace

void guard_opencl(guard g) {
  static const auto installed = halide_set_custom_get_library_symbol(symbol_of);
  (void)installed;
  where = g;
}

std::size_t guarded_opencl_buffers() { return buffers; }

}  // namespace qkv::testing
