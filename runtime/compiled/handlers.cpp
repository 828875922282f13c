// SPDX-License-Identifier: BSL-1.0
#include "compiled/handlers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "compiled/user_context.hpp"
#include "process/float_state.hpp"
#include "process/threads.hpp"

namespace qkv::detail {

constinit handler_set handlers;

namespace {

void on_error(void *user, const char *message) {
  if (user_context *c = user_context::of(user)) {
    c->report(message);
  } else if (handlers.error.before) {
    handlers.error.before(user, message);
  }
}

void *on_malloc(void *user, std::size_t bytes) {
  user_context *c = user_context::of(user);
  if (!c) return handlers.malloc.before(user, bytes);
  void *memory = c->memory.take(bytes);
  if (!memory) c->no_memory = true;
  return memory;
}

void on_free(void *user, void *memory) {
  if (user_context *c = user_context::of(user)) {
    c->memory.give_back(memory);
  } else {
    handlers.free.before(user, memory);
  }
}

// True on a thread that runs a task of the caller's executor. Loops inside the task stay on this
// thread: an executor need not be able to run work of its own tasks.
thread_local bool is_in_task = false;

struct loop {
  user_context *user;
  halide_task_t body;
  int min;
  std::uint8_t *closure;
  std::atomic<int> failure{0};
  int size;                         // the rest is of the caller's executor
  std::atomic<int> done{0};         // tasks that it ran
  std::atomic<bool> beyond{false};  // true after a task that does not exist

  static void counted(void *self, int i) {
    auto &l = *static_cast<loop *>(self);
    if (i < 0 || i >= l.size) {
      l.beyond = true;
      return;
    }
    const bool outside = std::exchange(is_in_task, true);
    step(self, i);
    is_in_task = outside;
    ++l.done;
  }
  static void step(void *self, int i) {
    auto &l = *static_cast<loop *>(self);
    if (l.failure.load(std::memory_order_relaxed)) return;
    const float_state_guard same_on_every_thread;
    if (const int code = l.body(l.user, l.min + i, l.closure)) l.failure = code;
  }
};

int on_par_for(void *user, halide_task_t body, int min, int size, std::uint8_t *closure) {
  user_context *c = user_context::of(user);
  if (!c) return handlers.par_for.before(user, body, min, size, closure);
  loop l{.user = c, .body = body, .min = min, .closure = closure, .size = size};
  if (!c->how.executor) {
    parallel_for(size, c->threads, loop::step, &l);
    return l.failure;
  }
  if (size == 1 || is_in_task) {
    for (int i = 0; i < size; ++i) loop::step(&l, i);
    return l.failure;
  }
  try {
    c->how.executor->run(size, loop::counted, &l);
  } catch (...) {
    c->report("the caller's executor threw an exception");
    return halide_error_code_generic_error;
  }
  if (l.failure || (l.done == size && !l.beyond)) return l.failure;
  std::array<char, 80> text{};
  fmt::format_to_n(text.data(), text.size() - 1, "the caller's executor ran {} of {} tasks{}",
                   l.done.load(), size, l.beyond ? " and others" : "");
  c->report(text.data());
  return halide_error_code_generic_error;
}

}  // namespace

void user_context::report(const char *message) noexcept {
  if (has_text.exchange(true)) return;
  const std::size_t n = std::min(std::strlen(message), text.size() - 1);
  std::memcpy(text.data(), message, n);
  for (std::size_t end = n; end > 0 && text[end - 1] == '\n'; --end) text[end - 1] = 0;
}

void handler_set::install() {
  error.install(halide_set_error_handler, on_error);
  malloc.install(halide_set_custom_malloc, on_malloc);
  free.install(halide_set_custom_free, on_free);
  par_for.install(halide_set_custom_do_par_for, on_par_for);
}

void handler_set::give_back() {
  error.give_back();
  malloc.give_back();
  free.give_back();
  par_for.give_back();
}

}  // namespace qkv::detail
