// SPDX-License-Identifier: BSL-1.0
#pragma once
// Machines that are processes of MPI. Only this header needs it: programs compile it with their
// own.
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
#include <memory>
#include <qkv/ring.hpp>
#include <string>
#include <thread>
#include <vector>

namespace qkv::ring {

// A copy of a communicator. All calls come from the thread that makes the group, whatever other
// threads compute: MPI_THREAD_FUNNELED, and MPI_THREAD_SINGLE in practice. It neither initialises
// MPI nor ends it. After a silence, or an error of MPI, it refuses every later call; the process
// lives.
class group : public transport {
 public:
  // All machines of the communicator make one, within the deadline.
  explicit group(MPI_Comm of, seconds deadline = seconds(60)) {
    int is_initialised = 0, is_over = 0;
    MPI_Initialized(&is_initialised);
    MPI_Finalized(&is_over);
    if (!is_initialised || is_over) {
      state_ = {status_code::unsupported,
                is_over ? "a group of MPI after MPI_Finalize" : "a group of MPI before MPI_Init"};
      return;
    }
    if (of == MPI_COMM_NULL) {
      state_ = {status_code::unsupported, "a group of no communicator"};
      return;
    }
    MPI_Comm_rank(of, &rank_);
    MPI_Comm_size(of, &size_);
    if (!take(MPI_Comm_idup(of, &pending_->own, &pending_->agreement), "MPI_Comm_idup")) return;
    if (!wait([&] { return test_agreement(); }, until(deadline), deadline, "some machine")) return;
    MPI_Comm_set_errhandler(pending_->own, MPI_ERRORS_RETURN);
  }
  group(const group &) = delete;
  group &operator=(const group &) = delete;
  ~group() override {
    int is_over = 0;
    MPI_Finalized(&is_over);
    // MPI may still write to what a silent machine left open.
    if (!state_.ok())
      (void)pending_.release();
    else if (pending_->own != MPI_COMM_NULL && !is_over)
      MPI_Comm_free(&pending_->own);
  }

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  status state() const noexcept override {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over && state_.ok())
      return {status_code::unsupported, "a group of MPI after MPI_Finalize"};
    return state_;
  }
  void close(const status &why) noexcept override { state_ = why; }

  status begin(int to, std::span<const std::byte> sent, int from,
               std::span<std::byte> received) noexcept override {
    try {
      if (!state_.ok()) return state_;
      for (std::size_t at = 0; from != nobody && (at == 0 || at < received.size()); at += part) {
        const std::size_t n = std::min(part, received.size() - at);
        expected_.push_back({open_.size(), static_cast<int>(n), from, -1});
        if (!take(MPI_Irecv(received.data() + at, static_cast<int>(n), MPI_BYTE, from, 0,
                            pending_->own, &open_.emplace_back()),
                  "MPI_Irecv"))
          return state_;
      }
      for (std::size_t at = 0; to != nobody && (at == 0 || at < sent.size()); at += part)
        if (!take(MPI_Isend(sent.data() + at, static_cast<int>(std::min(part, sent.size() - at)),
                            MPI_BYTE, to, 0, pending_->own, &open_.emplace_back()),
                  "MPI_Isend"))
          return state_;
      return {};
    } catch (...) {
      return state_ = status_code::out_of_memory;
    }
  }

  void poll() noexcept override {
    try {
      (void)test_messages();
    } catch (...) {
      state_ = status_code::out_of_memory;
    }
  }

  status finish(seconds deadline) noexcept override {
    try {
      if (status s = wait([&] { return test_messages(); }, until(deadline), deadline, awaited());
          !s)
        return s;
      for (const expected &e : expected_)
        if (e.found != e.bytes)
          return state_ = {status_code::wrong_count, "machine " + std::to_string(e.from) +
                                                         " sent " + std::to_string(e.found) +
                                                         " bytes, not " + std::to_string(e.bytes)};
      expected_.clear();
      return {};
    } catch (...) {
      return state_ = status_code::out_of_memory;
    }
  }

  status agree(const status &own, seconds deadline) noexcept override {
    try {
      if (!state_.ok()) return state_;
      open_agreement &p = *pending_;
      const clock::time_point last = until(deadline);
      p.vote = own.ok() ? size_ : rank_;
      if (!take(MPI_Iallreduce(&p.vote, &p.first, 1, MPI_INT, MPI_MIN, p.own, &p.agreement),
                "MPI_Iallreduce"))
        return state_;
      if (status s = wait([&] { return test_agreement(); }, last, deadline, "some machine"); !s)
        return s;
      if (p.first == size_) return {};
      p.verdict = {};
      if (rank_ == p.first) {
        p.verdict.code = static_cast<int>(own.code());
        std::strncpy(p.verdict.text.data(), own.text(), p.verdict.text.size() - 1);
      }
      if (!take(MPI_Ibcast(&p.verdict, sizeof p.verdict, MPI_BYTE, p.first, p.own, &p.agreement),
                "MPI_Ibcast"))
        return state_;
      if (status s = wait([&] { return test_agreement(); }, last, deadline,
                          "machine " + std::to_string(p.first));
          !s)
        return s;
      return {static_cast<status_code>(p.verdict.code), p.verdict.text.data()};
    } catch (...) {
      return state_ = status_code::out_of_memory;
    }
  }

 private:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t part = std::size_t{1} << 30;  // counts of MPI are int

  struct expected {
    std::size_t request;  // among open_
    int bytes, from;
    int found;  // bytes that came; -1: none yet
  };
  std::string awaited() const {
    return expected_.size() == 1 ? "machine " + std::to_string(expected_[0].from) : "some machine";
  }

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

  // True once the messages have arrived. Their sizes are kept until finish() compares them.
  bool test_messages() {
    if (open_.empty() || !state_.ok()) return open_.empty();
    results_.resize(open_.size());
    int done = 0;
    const int code =
        MPI_Testall(static_cast<int>(open_.size()), open_.data(), &done, results_.data());
    int failure = code, kind = 0;
    MPI_Error_class(code, &kind);
    if (kind == MPI_ERR_IN_STATUS)
      for (const MPI_Status &one : results_)
        if (one.MPI_ERROR != MPI_SUCCESS && one.MPI_ERROR != MPI_ERR_PENDING)
          failure = one.MPI_ERROR;
    if (!take(failure, "a message")) return false;
    if (!done) return false;
    for (expected &e : expected_)
      if (e.found < 0) MPI_Get_count(&results_[e.request], MPI_BYTE, &e.found);
    open_.clear();
    return true;
  }
  bool test_agreement() {
    int done = 0;
    return take(MPI_Test(&pending_->agreement, &done, MPI_STATUS_IGNORE), "an agreement") && done;
  }

  // Polls, so that a silent machine does not hold this one.
  template <class Test>
  status wait(const Test &is_done, clock::time_point last, seconds deadline,
              const std::string &whom) {
    for (int turn = 0; state_.ok(); ++turn) {
      if (is_done()) return {};
      if (!state_.ok()) break;
      if (clock::now() > last) {
        std::array<char, 100> text{};
        std::snprintf(text.data(), text.size(), "no message from %s within %.3g s", whom.c_str(),
                      deadline.count());
        return state_ = {status_code::peer_silent, text.data()};
      }
      if (turn < 100)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return state_;
  }

  struct open_agreement {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Request agreement = MPI_REQUEST_NULL;
    int vote = 0, first = 0;
    struct {
      int code = 0;
      std::array<char, 508> text{};
    } verdict;
  };
  int rank_ = 0, size_ = 1;
  status state_;
  std::vector<MPI_Request> open_;
  std::vector<MPI_Status> results_;
  std::vector<expected> expected_;
  std::unique_ptr<open_agreement> pending_ = std::make_unique<open_agreement>();
};

}  // namespace qkv::ring
