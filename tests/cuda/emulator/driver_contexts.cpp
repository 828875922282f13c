// SPDX-License-Identifier: BSL-1.0
// The device: its attributes, its contexts, the names of errors.
#include <cstdio>
#include <map>

#include "tests/cuda/emulator/driver.hpp"

namespace qkv::ptx {
namespace {

// CUdevice_attribute and values: those of an H100 with four multiprocessors, which small grids
// fill.
const std::map<int, int> attributes = {
    {1, 1024},  // threads of a block
    {2, 1024},
    {3, 1024},        // along x and y
    {4, 64},          // along z
    {5, 2147483647},  // blocks along x
    {6, 65535},
    {7, 65535},  // along y and z
    {8, 49152},  // bytes of shared memory of a block
    {10, 32},    // lanes of a warp
    {12, 65536},
    {82, 65536},              // registers of a block and of a multiprocessor
    {16, 4},                  // multiprocessors
    {39, 2048},               // threads of a multiprocessor
    {41, 1},                  // one address space with the host
    {81, 233472},             // bytes of shared memory of a multiprocessor
    {97, most_shared_bytes},  // of a block that opts in to more
};

}  // namespace
}  // namespace qkv::ptx

using namespace qkv::ptx;

#pragma GCC visibility push(default)
extern "C" {

result cuInit(unsigned) {
  gpu().initialised = true;
  return result::success;
}
result cuDriverGetVersion(int *v) {
  *v = 13000;
  return result::success;
}
result cuDeviceGetCount(int *n) {
  *n = 1;
  return gpu().initialised ? result::success : result::not_initialised;
}
result cuDeviceGet(int *d, int i) {
  *d = i;
  return i == 0 ? result::success : result::invalid_device;
}
result cuDeviceGetName(char *s, int n, int) {
  std::snprintf(s, static_cast<std::size_t>(n), "PTX emulator");
  return result::success;
}
result cuDeviceTotalMem_v2(std::size_t *b, int) {
  *b = std::size_t{4} << 30;
  return result::success;
}
result cuDeviceGetAttribute(int *v, int which, int) {
  const auto it = attributes.find(which);
  *v = it == attributes.end() ? 0 : it->second;
  if (which == 75) *v = gpu().capability / 10;
  if (which == 76) *v = gpu().capability % 10;
  return result::success;
}
result cuCtxCreate_v2(void **c, unsigned, int) {
  auto *made = new context;
  contexts().push_back(made);
  *c = made;
  return result::success;
}
result cuCtxDestroy_v2(void *c) {
  const call here(__func__);
  finish_all_streams();
  std::erase(contexts(), static_cast<context *>(c));
  if (c != &gpu().primary) delete static_cast<context *>(c);
  return result::success;
}
result cuCtxGetApiVersion(void *, unsigned *v) {
  *v = 13000;
  return result::success;
}
result cuCtxGetDevice(int *d) {
  *d = 0;
  return contexts().empty() ? result::invalid_context : result::success;
}
result cuCtxGetCurrent(void **c) {
  *c = contexts().empty() ? nullptr : contexts().back();
  return result::success;
}
result cuCtxSetCurrent(void *c) {
  if (!contexts().empty()) contexts().pop_back();
  if (c) contexts().push_back(static_cast<context *>(c));
  return result::success;
}
result cuCtxPushCurrent_v2(void *c) {
  const call here(__func__);
  if (!c) return result::invalid_context;
  contexts().push_back(static_cast<context *>(c));
  return result::success;
}
result cuCtxPopCurrent_v2(void **c) {
  const call here(__func__);
  if (contexts().empty()) return result::invalid_context;
  if (c) *c = contexts().back();
  contexts().pop_back();
  return result::success;
}
result cuCtxSynchronize() {
  const call here(__func__);
  finish_all_streams();
  return gpu().report_failure();
}
result cuDevicePrimaryCtxRetain(void **c, int) {
  *c = &gpu().primary;
  return result::success;
}
result cuDevicePrimaryCtxRelease_v2(int) { return result::success; }
result cuProfilerStop() { return result::success; }
result cuGetErrorName(result r, const char **s) {
  *s = r == result::success           ? "CUDA_SUCCESS"
       : r == result::invalid_value   ? "CUDA_ERROR_INVALID_VALUE"
       : r == result::invalid_ptx     ? "CUDA_ERROR_INVALID_PTX"
       : r == result::illegal_address ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                      : "CUDA_ERROR_UNKNOWN";
  return result::success;
}
// The latest mistake in words, where hardware has one sentence for each code.
result cuGetErrorString(result r, const char **s) {
  if (r == result::success || gpu().last_error.empty()) return cuGetErrorName(r, s);
  *s = gpu().last_error.c_str();
  return result::success;
}

}  // extern "C"
#pragma GCC visibility pop
