// SPDX-License-Identifier: BSL-1.0
#pragma once
// Calls that add to their outputs; private to the runtime.
#include <qkv/kernel.h>

#include <cstddef>
#include <cstdint>
#include <qkv/options.hpp>
#include <span>

#include "call/invoke.hpp"

namespace qkv::detail {

// Bytes of results that such a call holds before it adds them.
std::size_t result_bytes(const qkv_kernel &, std::span<const qkv_tensor> arguments);

// invoke() into memory of the workspace, then adds the results to the outputs: they are as they
// were on every status but ok. Errors: those of invoke(), out_of_memory, and unsupported for
// outputs that are not f32 or f64, or that lie on a device.
status accumulate(const qkv_kernel &, std::span<const qkv_tensor> arguments,
                  std::span<const std::int64_t> sizes, const bound_params *bound, const options &);

}  // namespace qkv::detail
