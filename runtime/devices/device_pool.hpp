// SPDX-License-Identifier: BSL-1.0
#pragma once
// Memory of devices, counted; private to the runtime.
#include <cstddef>
#include <qkv/device.hpp>

#include "compiled/halide.hpp"
#include "compiled/user_context.hpp"

namespace qkv::detail {

// Gives a buffer memory on a device, unless it has some. Returns 0 or Halide's error code; beyond
// the limit, context::no_memory is set.
int take_device_memory(user_context &, halide_buffer_t &, device);
// Gives it back; nothing to do where there is none.
int give_back_device_memory(void *user, halide_buffer_t &);

}  // namespace qkv::detail
