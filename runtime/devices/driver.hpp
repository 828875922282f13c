#pragma once
// The drivers of devices: whether they are there, and the contexts that calls run in; private to
// the runtime.
#include <qkv/kernel.h>

#include <qkv/options.hpp>
#include <qkv/status.hpp>

#include "compiled/halide.hpp"

namespace qkv::detail {

const char *device_name(int device);

bool is_device_error(int halide_code);

// Halide's side of a device that is not the host; null where nothing in the program was built for
// it.
const halide_device_interface_t *interface_of(device);

// Checks that the driver of a device can be loaded and that the compiled code's runtime knows the
// device.
status present(const char *asks, device);

// The CUcontext that a call on CUDA with these options runs in: the one that they name, the calling
// thread's current one, or the primary one of the first device. Null without a device.
void *context_for(const options &);

// Readies this process for calls to the driver of `how.on`, and writes the context that they run in
// into the options, on CUDA. Errors: those of present(), unsupported (a context or a stream on
// OpenCL).
status use_device(const char *asks, options &how);

// Makes the context of a call on CUDA the thread's current one while it lives.
class current_context {
 public:
  explicit current_context(const options &);
  current_context(const current_context &) = delete;
  current_context &operator=(const current_context &) = delete;
  ~current_context();
  bool ok() const { return pushed_; }

 private:
  bool pushed_ = false;
};

}  // namespace qkv::detail
