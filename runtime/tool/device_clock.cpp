// SPDX-License-Identifier: BSL-1.0
#include "tool/device_clock.hpp"

#include <chrono>

#include "devices/cuda_driver.hpp"

namespace qkv::tool {
namespace {

using detail::cuda_function;
using detail::driver_function;

// The driver's functions; their names are those of CUDA.
struct driver {
  driver_function<void **, unsigned> create =
      cuda_function<driver_function<void **, unsigned>>("cuEventCreate");
  driver_function<void *, void *> record =
      cuda_function<driver_function<void *, void *>>("cuEventRecord");
  driver_function<void *> wait = cuda_function<driver_function<void *>>("cuEventSynchronize");
  driver_function<float *, void *, void *> elapsed =
      cuda_function<driver_function<float *, void *, void *>>("cuEventElapsedTime");
  driver() {  // newer drivers may have the newer name alone
    if (!elapsed) elapsed = cuda_function<decltype(elapsed)>("cuEventElapsedTime_v2");
  }
  driver_function<void *> destroy = cuda_function<driver_function<void *>>("cuEventDestroy_v2");

  bool ok() const { return create && record && wait && elapsed && destroy; }
};

constexpr std::chrono::seconds most_time{5};

class event {
 public:
  explicit event(const driver &d) : d_(d), made_(d.create(&handle_, 0) == 0) {}
  event(const event &) = delete;
  event &operator=(const event &) = delete;
  ~event() {
    if (made_) (void)d_.destroy(handle_);
  }
  bool ok() const { return made_; }
  bool record(void *stream) { return d_.record(handle_, stream) == 0; }
  bool wait() { return d_.wait(handle_) == 0; }
  // Milliseconds since an earlier one; negative where the driver cannot tell.
  float since(const event &before) const {
    float ms = -1;
    return d_.elapsed(&ms, before.handle_, handle_) == 0 ? ms : -1;
  }

 private:
  const driver &d_;
  void *handle_ = nullptr;
  bool made_ = false;
};

}  // namespace

std::vector<double> times_on_device(const qkv::options &how, int warm, int n,
                                    const std::function<void(const qkv::options &)> &call) {
  if (how.on != device::cuda) return {};
  const driver d;
  const detail::current_context current(how.device_context ? how.device_context
                                                           : detail::context_of_thread());
  if (!d.ok() || !current.ok()) return {};
  event begin(d), end(d);
  if (!begin.ok() || !end.ok()) return {};
  qkv::options there = how;
  there.device_stream = reinterpret_cast<void *>(1);  // CU_STREAM_LEGACY: the context's default
  std::vector<double> all;
  const auto started = std::chrono::steady_clock::now();
  const auto is_late = [&] { return std::chrono::steady_clock::now() - started > most_time; };
  for (int k = 0; k < warm + n && !(all.size() >= 5 && is_late()); ++k) {
    if (!begin.record(there.device_stream)) return {};
    call(there);
    if (!end.record(there.device_stream) || !end.wait()) return {};
    const float ms = end.since(begin);
    if (ms < 0) return {};
    if (k >= warm || is_late()) all.push_back(ms * 1e-3);
  }
  return all;
}

}  // namespace qkv::tool
