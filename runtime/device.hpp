#pragma once
// Devices during one call: attaches device tensors, copies host tensors there and back; private to
// the runtime.
#include <qkv/kernel.h>

#include <memory_resource>
#include <vector>

#include "context.hpp"
#include "halide.hpp"

namespace qkv::detail {

bool is_device_error(int halide_code);

// Halide's side of a device that is not the host; null where nothing in the program was built for
// it.
const halide_device_interface_t *interface_of(device);

// Whether the driver of a device can be loaded and the compiled code's runtime knows the device.
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

class device_session {
 public:
  // The context's options have been through use_device(), unless they name the host.
  device_session(const qkv_kernel &, context &);
  device_session(const device_session &) = delete;
  device_session &operator=(const device_session &) = delete;
  ~device_session();

  // Makes a buffer usable on the device of the call; nothing to do on the host.
  status attach(halide_buffer_t &, const qkv_tensor &, const qkv_argument &);
  // Copies outputs that are host tensors back, and waits for the device unless the caller gave a
  // stream and every tensor is the device's.
  status collect();

 private:
  struct attached {
    halide_buffer_t *view;
    bool wrapped, output;
  };
  status beyond_limit(const char *argument, const halide_buffer_t &) const;
  status failed(const char *what, const char *argument, int code) const;

  const qkv_kernel &k_;
  context &context_;
  const device where_;
  std::vector<attached> buffers_;
};

}  // namespace qkv::detail
