// SPDX-License-Identifier: BSL-1.0
#pragma once
// Devices during one call: attaches device tensors, copies host tensors there and back; private to
// the runtime.
#include <qkv/kernel.h>

#include <vector>

#include "compiled/halide.hpp"
#include "compiled/user_context.hpp"

namespace qkv::detail {

class device_session {
 public:
  // The context's options have been through use_device(), unless they name the host.
  device_session(const qkv_kernel &, user_context &);
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
  user_context &context_;
  const device where_;
  std::vector<attached> buffers_;
};

}  // namespace qkv::detail
