// SPDX-License-Identifier: BSL-1.0
#include "ring/polling_executor.hpp"

#include "process/threads.hpp"

namespace qkv::ring {

struct polling_executor::job {
  polling_executor &self;
  void (*task)(void *state, int i);
  void *state;

  static void step(void *all, int i) {
    job &j = *static_cast<job *>(all);
    j.task(j.state, i);
    if (std::this_thread::get_id() == j.self.caller_) j.self.poll_sometimes();
  }
};

polling_executor::polling_executor(transport &link, const options &how)
    : link_(link),
      others_(how.executor),
      threads_(how.threads > 0 ? how.threads : qkv::threads()) {}

void polling_executor::run(int n, void (*task)(void *state, int i), void *state) {
  job all{*this, task, state};
  if (others_)
    others_->run(n, job::step, &all);
  else
    detail::parallel_for(n, threads_, job::step, &all);
}

void polling_executor::poll_sometimes() {
  constexpr std::chrono::microseconds pause(20);
  const auto now = clock::now();
  if (now - last_ < pause) return;
  link_.poll();
  last_ = clock::now();
}

}  // namespace qkv::ring
