// SPDX-License-Identifier: BSL-1.0
#pragma once
// The places where tests run kernels: the host, and the devices that this machine has a driver for;
// with QKV_CUDA_MUST_RUN in the environment, CUDA alone. There, a call that fails is a failure.
#include <qkv/device.hpp>

#include <cstdlib>
#include <vector>

namespace qkv::testing {

// CUDA's driver may be installed without a GPU: there is one if it has memory, or if the
// environment requires it.
inline bool has(device d) {
  if (available(d).code() == status_code::no_device) return false;
  device_memory some;
  return d != device::cuda || std::getenv("QKV_CUDA_MUST_RUN") ||
         device_memory::make({.on = d}, 4, 1, some).ok();
}

inline std::vector<options> places() {
  if (std::getenv("QKV_CUDA_MUST_RUN")) return {{.on = device::cuda}};
  std::vector<options> all(1);
  for (const device d : {device::opencl, device::cuda})
    if (has(d)) all.push_back({.on = d});
  return all;
}

}  // namespace qkv::testing
