// Errors, memory and threads of compiled code go to the context of the call: nothing prints, nothing aborts.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "context.hpp"
#include "float_state.hpp"
#include "fork.hpp"
#include "halide.hpp"
#include "threads.hpp"

namespace qkv::detail {
namespace {

// Handlers that were installed before ours, for Halide code that is not called through this
// runtime.
halide_error_handler_t other_error = nullptr;
halide_malloc_t other_malloc = nullptr;
halide_free_t other_free = nullptr;
halide_do_par_for_t other_par_for = nullptr;

void on_error(void *user, const char *message) {
  if (context *c = context::of(user)) {
    c->report(message);
  } else if (other_error) {
    other_error(user, message);
  }
}

void *on_malloc(void *user, std::size_t bytes) {
  context *c = context::of(user);
  if (!c) return other_malloc(user, bytes);
  void *memory = c->memory.take(bytes);
  if (!memory) c->no_memory = true;
  return memory;
}

void on_free(void *user, void *memory) {
  if (context *c = context::of(user)) {
    c->memory.give_back(memory);
  } else {
    other_free(user, memory);
  }
}

struct loop {
  context *user;
  halide_task_t body;
  int min;
  std::uint8_t *closure;
  std::atomic<int> failure{0};

  static void step(void *self, int i) {
    auto &l = *static_cast<loop *>(self);
    if (l.failure.load(std::memory_order_relaxed)) return;
    const float_state_guard same_on_every_thread;
    if (const int code = l.body(l.user, l.min + i, l.closure)) l.failure = code;
  }
};

int on_par_for(void *user, halide_task_t body, int min, int size, std::uint8_t *closure) {
  context *c = context::of(user);
  if (!c) return other_par_for(user, body, min, size, closure);
  loop l{.user = c, .body = body, .min = min, .closure = closure};
  if (!c->how.executor) {
    parallel_for(size, c->threads, loop::step, &l);
    return l.failure;
  }
  try {
    c->how.executor->run(size, loop::step, &l);
  } catch (...) {
    c->report("the caller's executor threw an exception");
    return halide_error_code_generic_error;
  }
  return l.failure;
}

}  // namespace

void context::report(const char *message) noexcept {
  if (has_text.exchange(true)) return;
  const std::size_t n = std::min(std::strlen(message), text.size() - 1);
  std::memcpy(text.data(), message, n);
  for (std::size_t end = n; end > 0 && text[end - 1] == '\n'; --end) text[end - 1] = 0;
}

void take_over_errors() {
  if (halide_set_error_handler) other_error = halide_set_error_handler(on_error);
}

void take_over_memory() {
  if (halide_set_custom_malloc) other_malloc = halide_set_custom_malloc(on_malloc);
  if (halide_set_custom_free) other_free = halide_set_custom_free(on_free);
}

void take_over_threads() {
  if (halide_set_custom_do_par_for) other_par_for = halide_set_custom_do_par_for(on_par_for);
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
  if (halide_set_error_handler) halide_set_error_handler(other_error);
  if (halide_set_custom_malloc) halide_set_custom_malloc(other_malloc);
  if (halide_set_custom_free) halide_set_custom_free(other_free);
  if (halide_set_custom_do_par_for) halide_set_custom_do_par_for(other_par_for);
  give_back_devices();
}

}  // namespace

void take_over_halide() {
  if (taken_over) return;
  guard_forks();
  const std::lock_guard hold(taking_over);
  if (taken_over) return;
  take_over_errors();
  take_over_memory();
  take_over_threads();
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
