// SPDX-License-Identifier: BSL-1.0
// Memory of the device: allocations, copies, fills.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "tests/cuda/emulator/driver.hpp"

namespace qkv::ptx {
namespace {

result copy(void *to, const void *from, std::size_t n, bool to_device, bool from_device, stream *s,
            bool later) {
  const std::lock_guard hold(gpu().lock);
  if (gpu().log_calls)
    std::fprintf(stderr, "ptx: %s copy of %zu bytes%s\n",
                 to_device ? from_device ? "device" : "upload" : "download", n,
                 later ? ", later" : "");
  const auto known = [&](const void *p, bool device) {
    return !device || n == 0 || gpu().memory.holds(reinterpret_cast<std::uint64_t>(p), n);
  };
  const void *unknown = !known(to, to_device) ? to : !known(from, from_device) ? from : nullptr;
  if (unknown)
    return gpu().refuse(result::invalid_value,
                        "copy of " + std::to_string(n) + " bytes: " +
                            gpu().memory.nearest(reinterpret_cast<std::uint64_t>(unknown)));
  if (!later) {
    finish_blocking_streams();
    std::memcpy(to, from, n);
    return gpu().report_failure();
  }
  if (!from_device) {  // pageable memory is read at once
    auto data = std::make_shared<std::vector<std::uint8_t>>(
        static_cast<const std::uint8_t *>(from), static_cast<const std::uint8_t *>(from) + n);
    return submit(s, [to, data] { std::memcpy(to, data->data(), data->size()); });
  }
  if (!to_device && !gpu().pinned) {  // to pageable memory: done on return
    if (const result r = synchronise(s); r != result::success) return r;
    std::memcpy(to, from, n);
    return result::success;
  }
  return submit(s, [to, from, n] { std::memcpy(to, from, n); });
}

}  // namespace
}  // namespace qkv::ptx

using namespace qkv::ptx;

#pragma GCC visibility push(default)
extern "C" {

result cuMemAlloc_v2(device_pointer *p, std::size_t n) {
  const call here(__func__);
  if (n == 0) return result::invalid_value;
  void *m = std::aligned_alloc(256, (n + 255) / 256 * 256);
  if (!m) return result::out_of_memory;
  std::memset(m, 0xff, n);
  gpu().memory.add(reinterpret_cast<std::uint64_t>(m), n);
  *p = reinterpret_cast<device_pointer>(m);
  return result::success;
}
result cuMemFree_v2(device_pointer p) {
  const call here(__func__);
  finish_all_streams();
  if (p == 0) return result::success;
  if (!gpu().memory.remove(p)) return result::invalid_value;
  std::free(reinterpret_cast<void *>(p));
  return result::success;
}
result cuMemAllocAsync(device_pointer *p, std::size_t n, void *) { return cuMemAlloc_v2(p, n); }
result cuMemFreeAsync(device_pointer p, void *on) {
  const call here(__func__);
  return submit(static_cast<stream *>(on), [p] {
    if (gpu().memory.remove(p)) std::free(reinterpret_cast<void *>(p));
  });
}
result cuMemGetInfo_v2(std::size_t *free, std::size_t *total) {
  *total = std::size_t{4} << 30;
  *free = *total - gpu().memory.in_use();
  return result::success;
}

result cuMemcpyHtoD_v2(device_pointer d, const void *s, std::size_t n) {
  return copy(host_view(d), s, n, true, false, nullptr, false);
}
result cuMemcpyDtoH_v2(void *d, device_pointer s, std::size_t n) {
  return copy(d, host_view(s), n, false, true, nullptr, false);
}
result cuMemcpyDtoD_v2(device_pointer d, device_pointer s, std::size_t n) {
  return copy(host_view(d), host_view(s), n, true, true, nullptr, false);
}
result cuMemcpyHtoDAsync_v2(device_pointer d, const void *s, std::size_t n, void *t) {
  return copy(host_view(d), s, n, true, false, static_cast<stream *>(t), true);
}
result cuMemcpyDtoHAsync_v2(void *d, device_pointer s, std::size_t n, void *t) {
  return copy(d, host_view(s), n, false, true, static_cast<stream *>(t), true);
}
result cuMemcpyDtoDAsync_v2(device_pointer d, device_pointer s, std::size_t n, void *t) {
  return copy(host_view(d), host_view(s), n, true, true, static_cast<stream *>(t), true);
}
result cuMemsetD8Async(device_pointer d, unsigned char v, std::size_t n, void *t) {
  const call here(__func__);
  if (!gpu().memory.holds(d, n)) return result::invalid_value;
  return submit(static_cast<stream *>(t), [d, v, n] { std::memset(host_view(d), v, n); });
}
result cuMemsetD8_v2(device_pointer d, unsigned char v, std::size_t n) {
  return cuMemsetD8Async(d, v, n, nullptr);
}
result cuMemsetD32Async(device_pointer d, unsigned v, std::size_t n, void *t) {
  const call here(__func__);
  if (!gpu().memory.holds(d, 4 * n)) return result::invalid_value;
  return submit(static_cast<stream *>(t),
                [d, v, n] { std::fill_n(reinterpret_cast<unsigned *>(d), n, v); });
}
result cuMemcpy3D_v2(const void *) { return result::invalid_value; }
result cuPointerGetAttribute(void *out, int what, device_pointer p) {
  const call here(__func__);
  if (!gpu().memory.holds(p, 1)) return result::invalid_value;
  if (what == 2)
    *static_cast<int *>(out) = 2;  // memory type: device
  else if (what == 9)
    *static_cast<int *>(out) = 0;
  else if (what == 1)
    *static_cast<void **>(out) = contexts().empty() ? nullptr : contexts().back();
  else
    return result::invalid_value;
  return result::success;
}

}  // extern "C"
#pragma GCC visibility pop
