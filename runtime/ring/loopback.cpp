// SPDX-License-Identifier: BSL-1.0
// Machines that are threads of one process.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <qkv/ring.hpp>

#include "status/fail.hpp"

namespace qkv::ring {

struct loopback::shared {
  explicit shared(int n)
      : machines(n), mail(static_cast<std::size_t>(n)), said(static_cast<std::size_t>(n)) {}

  const int machines;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::deque<std::vector<std::byte>>> mail;  // by receiver
  std::vector<status> said;                              // in this round of agreement
  int n_said = 0, n_heard = 0;
  bool is_open = true;  // machines may speak
};

class loopback::member : public transport {
 public:
  member(shared &s, int rank) : s_(s), rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return s_.machines; }
  status state() const noexcept override { return over_; }

  status begin(std::span<const std::byte> sent, std::span<std::byte> received) noexcept override {
    try {
      received_ = received;
      std::lock_guard hold(s_.mutex);
      s_.mail[static_cast<std::size_t>((rank_ + 1) % s_.machines)].emplace_back(sent.begin(),
                                                                                sent.end());
      s_.changed.notify_all();
      return {};
    } catch (...) {
      return detail::fail(status_code::out_of_memory, "no memory for a message of {} bytes",
                          sent.size());
    }
  }

  void poll() noexcept override {}

  status finish(seconds deadline) noexcept override {
    std::unique_lock hold(s_.mutex);
    auto &mine = s_.mail[static_cast<std::size_t>(rank_)];
    if (!s_.changed.wait_for(hold, deadline, [&] { return !mine.empty(); }))
      return silent((rank_ + s_.machines - 1) % s_.machines, deadline);
    const std::vector<std::byte> message = std::move(mine.front());
    mine.pop_front();
    if (message.size() != received_.size())
      return detail::fail(status_code::wrong_count, "machine {} sent {} bytes, not {}",
                          (rank_ + s_.machines - 1) % s_.machines, message.size(),
                          received_.size());
    std::copy(message.begin(), message.end(), received_.begin());
    return {};
  }

  status agree(const status &own, seconds deadline) noexcept override {
    std::unique_lock hold(s_.mutex);
    const auto wait = [&](auto until) { return s_.changed.wait_for(hold, deadline, until); };
    if (!wait([&] { return s_.is_open; })) return silent(-1, deadline);
    s_.said[static_cast<std::size_t>(rank_)] = own;
    if (++s_.n_said == s_.machines) s_.is_open = false;
    s_.changed.notify_all();
    if (!wait([&] { return !s_.is_open; })) return silent(-1, deadline);
    status first;
    for (const status &s : s_.said)
      if (first.ok()) first = s;
    if (++s_.n_heard == s_.machines) {
      s_.n_said = s_.n_heard = 0;
      s_.is_open = true;
    }
    s_.changed.notify_all();
    return first;
  }

 private:
  status silent(int who, seconds deadline) {
    if (who < 0)
      return over_ = detail::fail(status_code::peer_silent,
                                  "no message from some machine within {:.3g} s", deadline.count());
    return over_ =
               detail::fail(status_code::peer_silent, "no message from machine {} within {:.3g} s",
                            who, deadline.count());
  }

  shared &s_;
  const int rank_;
  status over_;
  std::span<std::byte> received_;
};

loopback::loopback(int machines) : shared_(std::make_unique<shared>(machines)) {
  for (int m = 0; m < machines; ++m) members_.push_back(std::make_unique<member>(*shared_, m));
}
loopback::~loopback() = default;

transport &loopback::machine(int rank) { return *members_[static_cast<std::size_t>(rank)]; }

}  // namespace qkv::ring
