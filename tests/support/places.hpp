#pragma once
// The places where tests run kernels: the host, and OpenCL unless this machine has no driver for
// it. With a driver, a call that fails is a failure.
#include <qkv/device.hpp>
#include <vector>

namespace qkv::testing {

inline std::vector<options> places() {
  std::vector<options> all(1);
  if (available(device::opencl).code() == status_code::no_device) return all;
  all.push_back({.on = device::opencl});
  return all;
}

}  // namespace qkv::testing
