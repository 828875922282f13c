// SPDX-License-Identifier: BSL-1.0
#include "tests/kernels/programs.hpp"

// Of the groups of kernels with code for the same kinds of device (CMakeLists.txt).
#include "kernels_everywhere.hpp"
#include "kernels_gpu_only.hpp"
#include "kernels_host_only.hpp"
#include "kernels_without_cuda.hpp"

namespace qkv::testing {

const std::vector<codegen::program> &programs_of(device on) {
  const auto joined = [](std::vector<std::vector<codegen::program>> parts) {
    std::vector<codegen::program> all;
    for (const auto &part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  static const std::vector<codegen::program>
      host = joined({kernels_everywhere(), kernels_without_cuda(), kernels_host_only()}),
      opencl = joined({kernels_everywhere(), kernels_without_cuda(), kernels_gpu_only()}),
      cuda = joined({kernels_everywhere(), kernels_gpu_only()});
  return on == device::host ? host : on == device::opencl ? opencl : cuda;
}

}  // namespace qkv::testing
