// SPDX-License-Identifier: BSL-1.0
#pragma once
// From checked tensors to the compiled code; private to the runtime.
#include <qkv/kernel.h>
#include <cstdint>
#include <qkv/options.hpp>
#include <span>
#include <vector>

#include "call/pack.hpp"
#include "call/variant.hpp"

namespace qkv::detail {

// A param that was prepared: its panels, or nothing when the variant reads it as it is.
struct bound_param {
  bool packed = false;
  panels layout;
  void *data = nullptr;
};

// The params of a prepared kernel and the variant that they were prepared for.
struct bound_params {
  const qkv_variant *variant = nullptr;
  std::vector<const bound_param *> of;  // one for each argument; null: as the tensor describes it
};

// Changes the device that the caller's options name to the one on which arguments lie, if any do.
// Errors: wrong_device.
status choose(const qkv_kernel &, std::span<const qkv_tensor> arguments, device &where);

// Builds the buffers and calls the entry of the best variant for the chosen device, or of the one
// that `bound` (which may be null) was prepared for.
status invoke(const qkv_kernel &, std::span<const qkv_tensor> arguments,
              std::span<const std::int64_t> sizes, const bound_params *bound, const options &);

// check() and invoke(). Never throws.
status run(const qkv_kernel &, std::span<const qkv_tensor> arguments, const bound_params *bound,
           const options &) noexcept;

}  // namespace qkv::detail
