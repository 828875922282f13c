#pragma once
// The places where tests run kernels: the host, and the devices that this machine has a driver for.
// There, a call that fails is a failure.
#include <qkv/device.hpp>

#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace qkv::testing {

// CUDA's driver may be installed without a GPU: there is one if it has memory, or if the
// environment says so.
inline bool has(device d) {
  if (available(d).code() == status_code::no_device) return false;
  device_memory some;
  return d != device::cuda || std::getenv("QKV_CUDA_MUST_RUN") ||
         device_memory::make({.on = d}, 4, 1, some).ok();
}

// `built` are the devices that the kernels of a test are built for.
inline std::vector<options> places(std::initializer_list<device> built = {device::opencl}) {
  std::vector<options> all(1);
  for (const device d : built)
    if (has(d)) all.push_back({.on = d});
  return all;
}

}  // namespace qkv::testing
