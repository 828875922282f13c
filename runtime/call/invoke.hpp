#pragma once
// From checked tensors to the compiled code; private to the runtime.
#include <qkv/kernel.h>
#include <cstdint>
#include <qkv/options.hpp>
#include <span>

#include "call/pack.hpp"

namespace qkv::detail {

// A param that was prepared: its panels, or nothing when the kernel reads it as it is.
struct bound_param {
  bool packed = false;
  panels layout;
  void *data = nullptr;
};

// Changes the device that the caller's options name to the one on which arguments lie, if any do.
// Errors: wrong_device.
status choose(const qkv_kernel &, std::span<const qkv_tensor> arguments, device &where);

// The compiled code for a device; null where the kernel was not built for it.
qkv_entry entry_of(const qkv_kernel &, device);

// Builds the buffers and calls the entry of the chosen device. `bound` is empty or has a pointer
// for each argument.
status invoke(const qkv_kernel &, std::span<const qkv_tensor> arguments,
              std::span<const std::int64_t> sizes, std::span<const bound_param *const> bound,
              const options &);

// check() and invoke(). Never throws.
status run(const qkv_kernel &, std::span<const qkv_tensor> arguments,
           std::span<const bound_param *const> bound, const options &) noexcept;

}  // namespace qkv::detail
