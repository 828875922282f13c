// SPDX-License-Identifier: BSL-1.0
#include "process/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "process/fork.hpp"

namespace qkv {
namespace detail {
namespace {

// One parallel loop. Whoever joins takes chunks until none are left, large ones first: few steals
// while there is much to do, and little waiting at the end. The last tasks go first: those of a
// causal kernel grow with their index, and short ones should be left for the end.
struct job {
  task run;
  void *state;
  int n, limit;
  std::atomic<int> next{0};
  int seats;       // workers that may still join; under the pool's lock
  int inside = 0;  // workers that are busy; under the pool's lock
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

// Usable before any static initialiser has run, unlike std::condition_variable.
class signal {
 public:
  void wait(std::unique_lock<std::mutex> &hold) {
    pthread_cond_wait(&it_, hold.mutex()->native_handle());
  }
  void one() { pthread_cond_signal(&it_); }
  void all() { pthread_cond_broadcast(&it_); }

 private:
  pthread_cond_t it_ = PTHREAD_COND_INITIALIZER;
};

constexpr int most_threads = 1024;  // of a loop, including the calling one

// Allocates no memory and throws nothing: compiled code, which calls it, cannot propagate
// exceptions.
class pool {
 public:
  void run(job &j) {
    guard_forks();
    {
      const std::lock_guard hold(lock_);
      while (workers_ < j.seats && start()) {
      }
      j.below = top_;
      top_ = &j;
      posted_.fetch_add(1, std::memory_order_relaxed);
    }
    if (j.limit == 2) {
      more_.one();
    } else {
      more_.all();
    }
    j.work();
    std::unique_lock hold(lock_);
    for (job **at = &top_; *at; at = &(*at)->below) {
      if (*at == &j) {
        *at = j.below;
        break;
      }
    }
    while (j.inside > 0) done_.wait(hold);
  }

  // Ends the sleeping workers, so that this code can be unloaded. Busy ones belong to a call that
  // goes on while its library is unloaded, or to one that called exit(); they cannot be waited for.
  void stop() {
    std::unique_lock hold(lock_);
    if (workers_ == 0 || started_in_ != getpid())
      return;  // workers of a parent that forked by a bare system call
    stopping_ = true;
    posted_.fetch_add(1, std::memory_order_relaxed);
    more_.all();
    while (workers_ > busy_ + leaving_) done_.wait(hold);
    stopping_ = false;
    int kept = 0;
    for (int i = 0; i < workers_; ++i) {
      if (seats_[i].left) {
        pthread_join(seats_[i].thread, nullptr);
      } else {
        seats_[kept++] = seats_[i];
      }
    }
    workers_ = kept;
    leaving_ = 0;
  }

  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }
  void forget() {
    more_ = done_ = signal{};
    top_ = nullptr;
    workers_ = busy_ = leaving_ = 0;
    stopping_ = false;
  }

 private:
  struct seat {
    pthread_t thread;
    bool left;
  };

  // Returns false if the system gives no more threads; the existing ones do the work.
  bool start() {
    if (workers_ == most_threads - 1) return false;
    seats_[workers_].left = false;
    const auto main = [](void *self) -> void * {
      static_cast<pool *>(self)->serve();
      return nullptr;
    };
    if (pthread_create(&seats_[workers_].thread, nullptr, main, this) != 0) return false;
    started_in_ = getpid();
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
    while (!stopping_) {
      if (job *j = open()) {
        --j->seats;
        ++j->inside;
        ++busy_;
        hold.unlock();
        j->work();
        hold.lock();
        --busy_;
        if (--j->inside == 0) done_.all();
        continue;
      }
      // The next loop of the same kernel usually follows within microseconds: look for it before
      // going to sleep.
      const unsigned seen = posted_.load(std::memory_order_relaxed);
      hold.unlock();
      for (int i = 0; i < 500 && posted_.load(std::memory_order_relaxed) == seen; ++i) pause();
      hold.lock();
      while (!open() && !stopping_) more_.wait(hold);
    }
    ++leaving_;
    for (int i = 0; i < workers_; ++i)
      if (pthread_equal(seats_[i].thread, pthread_self())) seats_[i].left = true;
    done_.all();
  }

  std::mutex lock_;
  signal more_, done_;
  job *top_ = nullptr;
  std::array<seat, most_threads - 1> seats_{};
  int workers_ = 0, busy_ = 0, leaving_ = 0;
  bool stopping_ = false;
  pid_t started_in_ = 0;
  std::atomic<unsigned> posted_{0};
};

// Exists before all static initialisers and until the process ends: workers may still sleep in it
// at exit.
constinit pool the_pool;

// Runs when the library that contains this code is unloaded, and at exit.
__attribute__((destructor(101))) void end() { the_pool.stop(); }

int allowed() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

std::atomic<int> chosen{0}, all{0};

}  // namespace

void parallel_for(int n, int limit, task run, void *state) {
  limit = std::min({limit, n, most_threads});
  if (limit <= 1) {
    for (int i = 0; i < n; ++i) run(state, i);
    return;
  }
  job j{.run = run, .state = state, .n = n, .limit = limit, .seats = limit - 1};
  the_pool.run(j);
}

void stop_threads() noexcept { the_pool.stop(); }

void lock_threads() noexcept { the_pool.lock(); }
void unlock_threads() noexcept { the_pool.unlock(); }
void forget_threads() noexcept { the_pool.forget(); }

}  // namespace detail

void set_threads(int n) { detail::chosen = n < 1 ? 0 : std::min(n, detail::most_threads); }

int threads() {
  const int n = detail::chosen;
  if (n > 0) return n;
  if (detail::all == 0) detail::all = detail::allowed();
  return detail::all;
}

}  // namespace qkv
