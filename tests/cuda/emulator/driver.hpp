// SPDX-License-Identifier: BSL-1.0
#pragma once
// Types of the driver's functions, as cuda.h declares them.
#include <cstddef>

#include "tests/cuda/emulator/device.hpp"

namespace qkv::ptx {

using device_pointer = unsigned long long;

inline void *host_view(device_pointer p) { return reinterpret_cast<void *>(p); }

struct loaded_function {
  kernel k;
  std::uint32_t dynamic_allowed = 0;  // bytes of dynamic shared memory
};

}  // namespace qkv::ptx
