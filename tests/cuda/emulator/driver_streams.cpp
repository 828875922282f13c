// SPDX-License-Identifier: BSL-1.0
// Streams and events.
#include <chrono>

#include "tests/cuda/emulator/driver.hpp"

namespace qkv::ptx {
namespace {

// Recorded, or waited for: when this machine got there.
struct event {
  std::chrono::steady_clock::time_point reached{};
};

}  // namespace
}  // namespace qkv::ptx

using namespace qkv::ptx;

#pragma GCC visibility push(default)
extern "C" {

result cuStreamCreate(void **s, unsigned flags) {
  const call here(__func__);
  auto *made = new stream;
  made->blocking = !(flags & 1);
  gpu().streams.insert(made);
  *s = made;
  return result::success;
}
result cuStreamDestroy_v2(void *s) {
  const call here(__func__);
  auto *x = static_cast<stream *>(s);
  if (!gpu().streams.count(x)) return result::invalid_handle;
  const result r = synchronise(x);
  gpu().streams.erase(x);
  delete x;
  return r;
}
result cuStreamSynchronize(void *s) {
  const call here(__func__);
  return synchronise(static_cast<stream *>(s));
}
result cuStreamQuery(void *s) { return cuStreamSynchronize(s); }
result cuStreamWaitEvent(void *, void *, unsigned) {
  const call here(__func__);
  finish_all_streams();
  return result::success;
}
result cuEventCreate(void **e, unsigned) {
  *e = new event;
  return result::success;
}
result cuEventRecord(void *e, void *) {
  static_cast<event *>(e)->reached = std::chrono::steady_clock::now();
  return result::success;
}
result cuEventSynchronize(void *e) {
  const call here(__func__);
  finish_all_streams();
  static_cast<event *>(e)->reached = std::chrono::steady_clock::now();
  return gpu().report_failure();
}
result cuEventElapsedTime_v2(float *ms, void *begin, void *end) {
  *ms = std::chrono::duration<float, std::milli>(static_cast<event *>(end)->reached -
                                                 static_cast<event *>(begin)->reached)
            .count();
  return result::success;
}
result cuEventDestroy_v2(void *e) {
  delete static_cast<event *>(e);
  return result::success;
}

}  // extern "C"
#pragma GCC visibility pop
