// SPDX-License-Identifier: BSL-1.0
#pragma once
// Machines that are processes of MPI. Only this header needs it: programs compile it with their own.
//   find_package(qkv REQUIRED COMPONENTS mpi)
//   target_link_libraries(app PRIVATE my qkv::mpi)
//
//   MPI_Init(&argc, &argv);
//   qkv::ring::group ring(MPI_COMM_WORLD);
//   qkv::status s = qkv::ring::call<my::attention>(ring, qkv::ring::zigzag(ring, n), Q, K, V, O);
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <qkv/ring.hpp>
#include <string>
#include <thread>
#include <vector>

namespace qkv::ring {

// A copy of a communicator. All calls come from the thread that makes the group: MPI_THREAD_SINGLE
// is enough. It neither initialises MPI nor ends it. After a silence, or an error of MPI, it refuses
// every later call; the process lives.
class group : public transport {
 public:
  explicit group(MPI_Comm of) {
    int is_initialised = 0, is_over = 0;
    MPI_Initialized(&is_initialised);
    MPI_Finalized(&is_over);
    if (!is_initialised || is_over) {
      state_ = {status_code::unsupported,
                is_over ? "a group of MPI after MPI_Finalize" : "a group of MPI before MPI_Init"};
      return;
    }
    if (!take(MPI_Comm_dup(of, &own_), "MPI_Comm_dup")) return;
    MPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(own_, &rank_);
    MPI_Comm_size(own_, &size_);
  }
  group(const group &) = delete;
  group &operator=(const group &) = delete;
  ~group() override {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (own_ != MPI_COMM_NULL && !is_over && state_.ok()) MPI_Comm_free(&own_);
  }

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  status state() const noexcept override { return state_; }

  status begin(std::span<const std::byte> sent, std::span<std::byte> received) noexcept override {
    try {
      if (!state_.ok()) return state_;
      open_.clear();
      const int next = (rank_ + 1) % size_, before = (rank_ + size_ - 1) % size_;
      for (std::size_t at = 0, tag = 0; at == 0 || at < received.size(); at += part, ++tag) {
        const std::size_t n = std::min(part, received.size() - at);
        if (!take(MPI_Irecv(received.data() + at, static_cast<int>(n), MPI_BYTE, before,
                            static_cast<int>(tag), own_, &open_.emplace_back()),
                  "MPI_Irecv"))
          return state_;
      }
      for (std::size_t at = 0, tag = 0; at == 0 || at < sent.size(); at += part, ++tag)
        if (!take(MPI_Isend(sent.data() + at, static_cast<int>(std::min(part, sent.size() - at)),
                            MPI_BYTE, next, static_cast<int>(tag), own_, &open_.emplace_back()),
                  "MPI_Isend"))
          return state_;
      return {};
    } catch (...) {
      return status_code::out_of_memory;
    }
  }

  void poll() noexcept override {
    int done = 0;
    if (!open_.empty() && state_.ok())
      MPI_Testall(static_cast<int>(open_.size()), open_.data(), &done, MPI_STATUSES_IGNORE);
  }

  status finish(seconds deadline) noexcept override {
    try {
      if (!state_.ok()) return state_;
      std::vector<MPI_Status> results(open_.size());
      const auto test = [&](int &done) {
        return MPI_Testall(static_cast<int>(open_.size()), open_.data(), &done, results.data());
      };
      const int before = (rank_ + size_ - 1) % size_;
      if (status s = wait(test, deadline, "machine " + std::to_string(before)); !s) return s;
      open_.clear();
      return {};
    } catch (...) {
      return status_code::out_of_memory;
    }
  }

  status agree(const status &own, seconds deadline) noexcept override {
    try {
      if (!state_.ok()) return state_;
      int mine = own.ok() ? size_ : rank_, first = size_;
      MPI_Request open = MPI_REQUEST_NULL;
      const auto test = [&](int &done) { return MPI_Test(&open, &done, MPI_STATUS_IGNORE); };
      if (!take(MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, own_, &open), "MPI_Iallreduce"))
        return state_;
      if (status s = wait(test, deadline, "some machine"); !s) return s;
      if (first == size_) return {};
      struct {
        int code = 0;
        std::array<char, 508> text{};
      } said;
      if (rank_ == first) {
        said.code = static_cast<int>(own.code());
        std::strncpy(said.text.data(), own.text(), said.text.size() - 1);
      }
      if (!take(MPI_Ibcast(&said, sizeof said, MPI_BYTE, first, own_, &open), "MPI_Ibcast"))
        return state_;
      if (status s = wait(test, deadline, "machine " + std::to_string(first)); !s) return s;
      return {static_cast<status_code>(said.code), said.text.data()};
    } catch (...) {
      return status_code::out_of_memory;
    }
  }

 private:
  static constexpr std::size_t part = std::size_t{1} << 30;  // counts of MPI are int

  // False, and the group is over, where MPI has failed.
  bool take(int code, const char *what) {
    if (code == MPI_SUCCESS) return true;
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    int n = 0, kind = 0;
    MPI_Error_string(code, text.data(), &n);
    MPI_Error_class(code, &kind);
    const bool is_longer = kind == MPI_ERR_TRUNCATE;
    state_ = {is_longer ? status_code::wrong_count : status_code::device_failed,
              std::string(what) + ": " + text.data()};
    return false;
  }

  // Polls, so that a silent machine does not hold this one.
  template <class Test>
  status wait(const Test &test, seconds deadline, const std::string &whom) {
    const auto until = std::chrono::steady_clock::now() + deadline;
    for (int turn = 0;; ++turn) {
      int done = 0;
      if (!take(test(done), "a message")) return state_;
      if (done) return {};
      if (std::chrono::steady_clock::now() > until) {
        std::array<char, 100> text{};
        std::snprintf(text.data(), text.size(), "%s said nothing for %.3g s", whom.c_str(),
                      deadline.count());
        return state_ = {status_code::peer_silent, text.data()};
      }
      if (turn < 100)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  MPI_Comm own_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  status state_;
  std::vector<MPI_Request> open_;
};

}  // namespace qkv::ring
