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

bool empty(const qkv_tensor &);
std::int64_t span_of(const qkv_tensor &);  // elements from the first to the last, 0 when empty
const char *device_name(int device);

// Halide's limit for a stride counts whole strides, the last one included.
std::int64_t widest_stride(std::int64_t extent);

// As large as can be where the product is larger.
std::int64_t product(std::int64_t, std::int64_t);
// Adds to the span of a tensor what one more axis reaches; false where that does not fit 64 bits.
bool widen(std::int64_t &span, std::int64_t extent, std::int64_t stride);

}  // namespace qkv::detail
