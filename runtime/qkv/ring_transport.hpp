// SPDX-License-Identifier: BSL-1.0
#pragma once
// How machines that share tokens reach each other.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <qkv/status.hpp>
#include <span>
#include <vector>

namespace qkv::ring {

// Calls of one machine come from one thread at a time. None throws.
class transport {
 public:
  using seconds = std::chrono::duration<double>;
  static constexpr int nobody = -1;

  virtual ~transport() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  // Not ok once another machine was silent, or where there is nothing to speak through.
  virtual status state() const noexcept { return {}; }
  // Lets no later call through: state() is this error. Machines that wait for this one end at their
  // deadlines.
  virtual void close(const status &) noexcept {}
  // Begins to send to one machine and to receive from one, or nobody; both memories stay as they
  // are until finish(). Several may be begun; between two machines, messages keep their order.
  virtual status begin(int to, std::span<const std::byte> sent, int from,
                       std::span<std::byte> received) noexcept = 0;
  // Lets transfers go on, without waiting.
  virtual void poll() noexcept = 0;
  // Waits for all that were begun. Errors: peer_silent past the deadline, wrong_count for a message
  // of another size.
  virtual status finish(seconds deadline) noexcept = 0;
  // Every machine gets the status of the first one that has an error. Errors: peer_silent.
  virtual status agree(const status &own, seconds deadline) noexcept = 0;

 protected:
  // The time when a wait ends; no deadline is longer than the clock can tell.
  static std::chrono::steady_clock::time_point until(seconds deadline) {
    using clock = std::chrono::steady_clock;
    constexpr seconds most = std::chrono::hours(10'000);
    return clock::now() + std::chrono::duration_cast<clock::duration>(std::min(deadline, most));
  }
};

// Machines of one process, each in a thread of its own, for tests.
class loopback {
 public:
  explicit loopback(int machines);
  loopback(const loopback &) = delete;
  loopback &operator=(const loopback &) = delete;
  ~loopback();
  transport &machine(int rank);
  // Messages arrive later, by up to so long, each by a time of its own.
  void delay(transport::seconds most, unsigned seed);

 private:
  struct shared;
  class member;
  std::unique_ptr<shared> shared_;
  std::vector<std::unique_ptr<member>> members_;
};

}  // namespace qkv::ring
