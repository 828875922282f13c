// SPDX-License-Identifier: BSL-1.0
#pragma once
// Lets messages go on while a kernel runs: MPI moves them only while it is called.
#include <qkv/options.hpp>
#include <qkv/ring_transport.hpp>
#include <thread>

namespace qkv::ring {

// Runs tasks on the threads that the options of a call name; the thread that called polls the
// transport between them, at most every 20 us.
class polling_executor : public executor {
 public:
  polling_executor(transport &, const options &);
  void run(int n, void (*task)(void *state, int i), void *state) override;

 private:
  using clock = std::chrono::steady_clock;
  struct job;
  void poll_sometimes();

  transport &link_;
  executor *const others_;
  const int threads_;
  const std::thread::id caller_ = std::this_thread::get_id();
  clock::time_point last_ = clock::now();
};

}  // namespace qkv::ring
