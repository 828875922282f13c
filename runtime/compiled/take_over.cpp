// SPDX-License-Identifier: BSL-1.0
// When the handlers of compiled code are installed and given back.
#include <dlfcn.h>

#include <atomic>
#include <mutex>

#include "compiled/handlers.hpp"
#include "compiled/user_context.hpp"
#include "process/fork.hpp"

namespace qkv::detail {

const char this_runtime = 0;

void *keep_loaded(const void *code) noexcept {
  Dl_info holder{}, own{};
  if (!dladdr(code, &holder) || !dladdr(&this_runtime, &own) || holder.dli_fbase == own.dli_fbase)
    return nullptr;
  return dlopen(holder.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

void let_go(void *library) noexcept {
  if (library) dlclose(library);
}

namespace {

std::mutex taking_over;
std::atomic<bool> taken_over{false};
std::atomic<int> calls{0};

// Restores the previous handlers when this code is unloaded, because Halide's runtime may belong to
// the program and stay. Runs at exit, too, but does nothing while a call is running.
__attribute__((destructor(101))) void give_back_halide() {
  const std::lock_guard hold(taking_over);
  if (!taken_over.exchange(false)) return;
  if (calls != 0) {
    taken_over = true;
    return;
  }
  handlers.give_back();
  give_back_devices();
}

}  // namespace

void take_over_halide() {
  if (taken_over) return;
  guard_forks();
  const std::lock_guard hold(taking_over);
  if (taken_over) return;
  handlers.install();
  take_over_devices();
  taken_over = true;
}

running_call::running_call() {
  ++calls;
  take_over_halide();
}
running_call::~running_call() { --calls; }

void lock_halide() noexcept { taking_over.lock(); }
void unlock_halide() noexcept { taking_over.unlock(); }

}  // namespace qkv::detail
