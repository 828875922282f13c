// SPDX-License-Identifier: BSL-1.0
#pragma once
// A machine on which something goes wrong.
#include <qkv/kernel.h>

#include <functional>
#include <qkv/ring.hpp>
#include <thread>
#include <vector>

namespace qkv::testing {

enum class fault {
  none,
  extent,
  rank,
  type,
  memory,
  device,
  stride,
  odd_address,
  layout,
  kernel,
  stop,
  slow,
  cut,
  foreign,   // other bytes
  workspace  // with little memory
};
constexpr int n_faults = static_cast<int>(fault::workspace) + 1;

constexpr bool is_wrong_call(fault f) { return f > fault::none && f < fault::stop; }

// The link of a machine, which goes wrong at message number `at`. A machine that stops calls
// `stop`, if there is one.
class faulty : public ring::transport {
 public:
  faulty(transport &inner, fault what, int at, std::function<void()> stop = {})
      : inner_(inner), what_(what), at_(at), stop_(std::move(stop)) {}

  int rank() const noexcept override { return inner_.rank(); }
  int size() const noexcept override { return inner_.size(); }
  status state() const noexcept override { return inner_.state(); }
  void close(const status &why) noexcept override { inner_.close(why); }
  status begin(int to, std::span<const std::byte> sent, int from,
               std::span<std::byte> received) noexcept override {
    if (status s = turn(); !s) return s;
    if (what_ == fault::cut && turns_ == at_ + 1) sent = sent.first(sent.size() / 2);
    if (what_ == fault::foreign && turns_ == at_ + 1) {
      other_bytes_.assign(sent.begin(), sent.end());
      for (std::byte &b : other_bytes_) b = ~b;
      sent = other_bytes_;
    }
    return inner_.begin(to, sent, from, received);
  }
  void poll() noexcept override { inner_.poll(); }
  status finish(seconds deadline) noexcept override { return inner_.finish(deadline); }
  status agree(const status &own, seconds deadline) noexcept override {
    if (status s = turn(); !s) return s;
    return inner_.agree(own, deadline);
  }

 private:
  status turn() {
    const int now = turns_++;
    if (what_ == fault::slow) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    if (what_ != fault::stop || now < at_) return {};
    if (stop_) stop_();
    return {status_code::device_failed, "it stops"};
  }

  transport &inner_;
  const fault what_;
  const int at_;
  const std::function<void()> stop_;
  int turns_ = 0;
  std::vector<std::byte> other_bytes_;
};

// Spoils the first argument of a call.
inline void spoil(fault what, std::vector<qkv_tensor> &t) {
  qkv_tensor &x = t[0];
  if (what == fault::extent) ++x.extent[x.rank - 1];
  if (what == fault::rank) --x.rank;
  if (what == fault::type) x.dtype = x.dtype == QKV_I32 ? QKV_F64 : QKV_I32;
  if (what == fault::memory) x.data = nullptr;
  if (what == fault::device) x.device = QKV_CUDA;
  if (what == fault::stride) x.stride[x.rank - 1] = 2;
  if (what == fault::odd_address) t.back().data = static_cast<char *>(t.back().data) + 1;
}

}  // namespace qkv::testing
