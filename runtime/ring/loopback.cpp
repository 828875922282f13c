// SPDX-License-Identifier: BSL-1.0
// Machines that are threads of one process.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <qkv/ring_transport.hpp>
#include <random>
#include <set>

#include "status/fail.hpp"

namespace qkv::ring {
using time_point = std::chrono::steady_clock::time_point;

struct loopback::shared {
  // The memory is the sender's, who waits until it was read.
  struct letter {
    std::span<const std::byte> bytes;
    time_point arrives;
    bool is_being_read = false;
  };

  explicit shared(int n)
      : machines(n),
        mail(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)),
        said(static_cast<std::size_t>(n)) {}

  std::deque<letter> &between(int from, int to) {
    return mail[static_cast<std::size_t>(to) * static_cast<std::size_t>(machines) +
                static_cast<std::size_t>(from)];
  }
  time_point arrival() {
    if (most_delay.count() <= 0) return {};
    const double share = std::uniform_real_distribution<double>()(random);
    return std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(most_delay * share);
  }

  const int machines;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::deque<letter>> mail;  // by receiver and sender
  std::vector<status> said;              // in this round of agreement
  int n_said = 0, n_heard = 0;
  bool is_open = true;  // machines may speak
  transport::seconds most_delay{0};
  std::mt19937 random;
};

class loopback::member : public transport {
 public:
  member(shared &s, int rank) : s_(s), rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return s_.machines; }
  status state() const noexcept override { return over_; }
  void close(const status &why) noexcept override { over_ = why; }

  status begin(int to, std::span<const std::byte> sent, int from,
               std::span<std::byte> received) noexcept override {
    try {
      if (!over_) return over_;
      if (from != nobody) expected_.push_back({from, received});
      if (to == nobody) return {};
      std::lock_guard hold(s_.mutex);
      s_.between(rank_, to).push_back({sent, s_.arrival()});
      readers_.insert(to);
      s_.changed.notify_all();
      return {};
    } catch (...) {
      return detail::fail(status_code::out_of_memory, "no memory for a message of {} bytes",
                          sent.size());
    }
  }

  void poll() noexcept override {}

  status finish(seconds deadline) noexcept override {
    const time_point last = until(deadline);
    status all;
    for (const expected &e : expected_)
      if (all) all = receive(e, last, deadline);
    expected_.clear();
    if (status s = read_by_all(last, deadline); all) all = s;
    return all ? all : over_ = all;
  }

  status agree(const status &own, seconds deadline) noexcept override {
    if (!over_) return over_;
    std::unique_lock hold(s_.mutex);
    const time_point last = until(deadline);
    const auto wait = [&](auto until) { return s_.changed.wait_until(hold, last, until); };
    if (!wait([&] { return s_.is_open; })) return over_ = silent(nobody, deadline);
    s_.said[static_cast<std::size_t>(rank_)] = own;
    if (++s_.n_said == s_.machines) s_.is_open = false;
    s_.changed.notify_all();
    if (!wait([&] { return !s_.is_open; })) return over_ = silent(nobody, deadline);
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
  struct expected {
    int from;
    std::span<std::byte> received;
  };

  status receive(const expected &e, time_point until, seconds deadline) {
    std::unique_lock hold(s_.mutex);
    auto &mail = s_.between(e.from, rank_);
    while (mail.empty() || mail.front().arrives > std::chrono::steady_clock::now()) {
      if (std::chrono::steady_clock::now() > until) return silent(e.from, deadline);
      s_.changed.wait_until(hold, mail.empty() ? until : std::min(until, mail.front().arrives));
    }
    // Without the lock: others go on while this is copied, and the sender waits for it.
    const std::span<const std::byte> bytes = mail.front().bytes;
    mail.front().is_being_read = true;
    hold.unlock();
    if (bytes.size() == e.received.size())
      std::copy(bytes.begin(), bytes.end(), e.received.begin());
    hold.lock();
    mail.pop_front();
    s_.changed.notify_all();
    if (bytes.size() != e.received.size())
      return detail::fail(status_code::wrong_count, "machine {} sent {} bytes, not {}", e.from,
                          bytes.size(), e.received.size());
    return {};
  }

  // The messages of this machine.
  status read_by_all(time_point until, seconds deadline) {
    std::unique_lock hold(s_.mutex);
    status all;
    for (const int to : readers_) {
      auto &mail = s_.between(rank_, to);
      if (s_.changed.wait_until(hold, until, [&] { return mail.empty(); })) continue;
      all = over_ = silent(to, deadline);
      // Its memory may be gone soon.
      s_.changed.wait(hold, [&] { return mail.empty() || !mail.front().is_being_read; });
      mail.clear();
    }
    readers_.clear();
    return all;
  }

  static status silent(int who, seconds deadline) {
    if (who == nobody)
      return detail::fail(status_code::peer_silent, "no message from some machine within {:.3g} s",
                          deadline.count());
    return detail::fail(status_code::peer_silent, "no message from machine {} within {:.3g} s", who,
                        deadline.count());
  }

  shared &s_;
  const int rank_;
  status over_;
  std::vector<expected> expected_;
  std::set<int> readers_;  // of messages that are begun
};

loopback::loopback(int machines) : shared_(std::make_unique<shared>(machines)) {
  for (int m = 0; m < machines; ++m) members_.push_back(std::make_unique<member>(*shared_, m));
}
loopback::~loopback() = default;

transport &loopback::machine(int rank) { return *members_[static_cast<std::size_t>(rank)]; }

void loopback::delay(transport::seconds most, unsigned seed) {
  const std::lock_guard hold(shared_->mutex);
  shared_->most_delay = most;
  shared_->random.seed(seed);
}

}  // namespace qkv::ring
