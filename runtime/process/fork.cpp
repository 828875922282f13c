// SPDX-License-Identifier: BSL-1.0
#include "process/fork.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace qkv::detail {
namespace {

// Locks are always taken in this order: a thread that holds one takes none of an earlier line.
void before_fork() {
  lock_registry();
  lock_halide();
  lock_threads();
  lock_workspaces();
}

void unlock_all() {
  unlock_workspaces();
  unlock_threads();
  unlock_halide();
  unlock_registry();
}

void after_fork_in_child() {
  forget_threads();
  unlock_all();
}

enum { unguarded, registering, is_guarded };
std::atomic<int> guarded{unguarded};
std::atomic<pid_t> uses_devices{0};

// Before any thread can hold a lock: this code has just been loaded.
__attribute__((constructor(101))) void guard_at_load() { guard_forks(); }

}  // namespace

void guard_forks() noexcept {
  int was = unguarded;  // no lock here: a child that is forked meanwhile would wait for it forever
  if (!guarded.compare_exchange_strong(was, registering, std::memory_order_relaxed)) return;
  const bool done = pthread_atfork(before_fork, unlock_all, after_fork_in_child) == 0;
  guarded.store(done ? is_guarded : unguarded,
                std::memory_order_relaxed);  // on failure, the next call tries again
}

bool devices_lost() noexcept {
  const pid_t by = uses_devices.load(std::memory_order_relaxed);
  return by != 0 && by != getpid();
}

void note_device_use() noexcept {
  pid_t none = 0;
  uses_devices.compare_exchange_strong(none, getpid(), std::memory_order_relaxed);
}

}  // namespace qkv::detail
