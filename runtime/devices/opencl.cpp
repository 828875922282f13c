// SPDX-License-Identifier: BSL-1.0
// OpenCL, in a context and a queue of the runtime's own.
#include "devices/device_kind.hpp"
#include "status/fail.hpp"

namespace qkv::detail {
namespace {

void *opencl_driver() {
  static void *const library = first_of({"libOpenCL.so.1", "libOpenCL.so"});
  return library;
}

const halide_device_interface_t *opencl_code() {
  return halide_opencl_device_interface ? halide_opencl_device_interface() : nullptr;
}

status opencl_enter(const char *caller, options &how) {
  if (!how.device_context && !how.device_stream) return {};
  return fail(status_code::unsupported, "{}: OpenCL runs in the runtime's own context and queue",
              caller);
}

std::uintptr_t opencl_handle(void *user, halide_buffer_t *b) {
  return halide_opencl_get_cl_mem(user, b);
}

}  // namespace

constinit const device_kind opencl_kind{.number = QKV_OPENCL,
                                        .name = "opencl",
                                        .has_addresses = false,
                                        .library = "libOpenCL",
                                        .driver = opencl_driver,
                                        .code = opencl_code,
                                        .enter = opencl_enter,
                                        .handle = opencl_handle,
                                        .trim = nullptr,  // Halide keeps no memory there
                                        .take_over = nullptr,
                                        .give_back = nullptr};

}  // namespace qkv::detail
