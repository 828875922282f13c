// Errors, memory and threads of compiled code go to the context of the call: nothing prints,
// nothing aborts.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "context.hpp"
#include "float_state.hpp"
#include "fork.hpp"
#include "halide.hpp"
#include "threads.hpp"

namespace qkv::detail {
namespace {

handler<halide_error_handler_t> error;
handler<halide_malloc_t> memory_taken;
handler<halide_free_t> memory_given_back;
handler<halide_do_par_for_t> par_for;

void on_error(void *user, const char *message) {
  if (context *c = context::of(user)) {
    c->report(message);
  } else if (error.before) {
    error.before(user, message);
  }
}

void *on_malloc(void *user, std::size_t bytes) {
  context *c = context::of(user);
  if (!c) return memory_taken.before(user, bytes);
  void *memory = c->memory.take(bytes);
  if (!memory) c->no_memory = true;
  return memory;
}

void on_free(void *user, void *memory) {
  if (context *c = context::of(user)) {
    c->memory.give_back(memory);
  } else {
    memory_given_back.before(user, memory);
  }
}

struct loop {
  context *user;
  halide_task_t body;
  int min;
  std::uint8_t *closure;
  std::atomic<int> failure{0};
  int size;                         // what follows is of the caller's executor
  std::atomic<int> done{0};         // tasks that it ran
  std::atomic<bool> beyond{false};  // true after a task that does not exist

  static void counted(void *self, int i) {
    auto &l = *static_cast<loop *>(self);
    if (i < 0 || i >= l.size) {
      l.beyond = true;
      return;
    }
    step(self, i);
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
  context *c = context::of(user);
  if (!c) return par_for.before(user, body, min, size, closure);
  loop l{.user = c, .body = body, .min = min, .closure = closure, .size = size};
  if (!c->how.executor) {
    parallel_for(size, c->threads, loop::step, &l);
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

void context::report(const char *message) noexcept {
  if (has_text.exchange(true)) return;
  const std::size_t n = std::min(std::strlen(message), text.size() - 1);
  std::memcpy(text.data(), message, n);
  for (std::size_t end = n; end > 0 && text[end - 1] == '\n'; --end) text[end - 1] = 0;
}

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
  error.give_back();
  memory_taken.give_back();
  memory_given_back.give_back();
  par_for.give_back();
  give_back_devices();
}

}  // namespace

void take_over_halide() {
  if (taken_over) return;
  guard_forks();
  const std::lock_guard hold(taking_over);
  if (taken_over) return;
  error.install(halide_set_error_handler, on_error);
  memory_taken.install(halide_set_custom_malloc, on_malloc);
  memory_given_back.install(halide_set_custom_free, on_free);
  par_for.install(halide_set_custom_do_par_for, on_par_for);
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
