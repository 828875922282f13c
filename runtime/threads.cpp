#include "threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace qkv {
namespace detail {
namespace {

// One parallel loop. Whoever joins takes chunks until none are left, large ones first: few steals while there is
// much to do, and little waiting at the end. The last tasks go first: those of a causal kernel grow with their index, and
// short ones should be left for the end.
struct job {
  task run;
  void *state;
  int n, limit;
  std::atomic<int> next{0};
  int seats;       // how many workers may still join; under the pool's lock
  int inside = 0;  // how many are at work; under the pool's lock
  job *below = nullptr;

  void work() {
    for (int from = next.load(std::memory_order_relaxed); from < n;) {
      const int size = std::max(1, (n - from) / (4 * limit));
      if (!next.compare_exchange_weak(from, from + size, std::memory_order_relaxed)) continue;
      for (int i = from; i < from + size; ++i) run(state, n - 1 - i);
      from = next.load(std::memory_order_relaxed);
    }
  }
};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class pool {
 public:
  void run(job &j) {
    {
      const std::lock_guard hold(lock_);
      while (workers_ < j.seats && start()) {
      }
      j.below = top_;
      top_ = &j;
      posted_.fetch_add(1, std::memory_order_relaxed);
    }
    if (j.limit == 2) {
      more_.notify_one();
    } else {
      more_.notify_all();
    }
    j.work();
    std::unique_lock hold(lock_);
    for (job **at = &top_;; at = &(*at)->below) {
      if (*at == &j) {
        *at = j.below;
        break;
      }
    }
    done_.wait(hold, [&] { return j.inside == 0; });
  }

 private:
  bool start() {
    try {
      std::thread([this] { serve(); }).detach();
    } catch (...) {  // the system gives no more threads: those there are do the work
      return false;
    }
    ++workers_;
    return true;
  }

  job *open() {
    for (job *j = top_; j; j = j->below) {
      if (j->seats > 0 && j->next.load(std::memory_order_relaxed) < j->n) return j;
    }
    return nullptr;
  }

  void serve() {
    std::unique_lock hold(lock_);
    while (true) {
      if (job *j = open()) {
        --j->seats;
        ++j->inside;
        hold.unlock();
        j->work();
        hold.lock();
        if (--j->inside == 0) done_.notify_all();
        continue;
      }
      // The next loop of the same kernel usually follows within microseconds: look for it before going to sleep.
      const unsigned seen = posted_.load(std::memory_order_relaxed);
      hold.unlock();
      for (int i = 0; i < 500 && posted_.load(std::memory_order_relaxed) == seen; ++i) pause();
      hold.lock();
      more_.wait(hold, [&] { return open() != nullptr; });
    }
  }

  std::mutex lock_;
  std::condition_variable more_, done_;
  job *top_ = nullptr;
  int workers_ = 0;
  std::atomic<unsigned> posted_{0};
};

// Never destroyed: workers may still sleep in it while the process exits.
pool &the_pool() {
  static pool *p = new pool;
  return *p;
}

int allowed() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::atomic<int> chosen{0};

}  // namespace

void parallel_for(int n, int limit, task run, void *state) {
  limit = std::min(limit, n);
  if (limit <= 1) {
    for (int i = 0; i < n; ++i) run(state, i);
    return;
  }
  job j{.run = run, .state = state, .n = n, .limit = limit, .seats = limit - 1};
  the_pool().run(j);
}

}  // namespace detail

void set_threads(int n) { detail::chosen = n < 1 ? 0 : std::min(n, 1024); }

int threads() {
  const int n = detail::chosen;
  if (n > 0) return n;
  static const int all = detail::allowed();
  return all;
}

}  // namespace qkv
