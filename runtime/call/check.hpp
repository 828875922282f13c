// SPDX-License-Identifier: BSL-1.0
#pragma once
// Validation of a call against the kernel's table; private to the runtime.
#include <qkv/kernel.h>
#include <cstdint>
#include <qkv/status.hpp>
#include <span>

namespace qkv::detail {

// Checks everything that can be checked without running the kernel, so that compiled code only ever
// sees memory that it may use. Fills in the size of every axis. Cost: linear in arguments and axes,
// and (outputs * arguments) ranges.
status check(const qkv_kernel &, std::span<const qkv_tensor> arguments,
             std::span<std::int64_t> sizes);

// The same for the params alone, in the order of the table; sizes that they do not determine stay
// -1.
status check_params(const qkv_kernel &, std::span<const qkv_tensor> params,
                    std::span<std::int64_t> sizes);

// Fills in sizes that are -1 where the table or a condition decides them, and leaves the others.
void derive_sizes(const qkv_kernel &, std::span<std::int64_t> sizes);

// Checks strides, memory and overlaps alone, whatever the extents: of as many arguments as the
// table has, of its ranks and types.
status check_memory(const qkv_kernel &, std::span<const qkv_tensor> arguments);

}  // namespace qkv::detail
