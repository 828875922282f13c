// SPDX-License-Identifier: BSL-1.0
#include "tests/cuda/emulator/device.hpp"

#include <cstdio>
#include <utility>

namespace qkv::ptx {
namespace {

void finish(stream &s) {
  while (!s.work.empty()) {
    auto work = std::move(s.work.front());
    s.work.pop_front();
    work();
  }
}

// Handles 0 and 1 are the default stream, 2 is the default stream of the thread.
bool is_default(const stream *s) { return reinterpret_cast<std::uintptr_t>(s) <= 1; }
bool is_of_thread(const stream *s) { return reinterpret_cast<std::uintptr_t>(s) == 2; }

}  // namespace

device &gpu() {
  static device &d = *new device;
  return d;
}

std::vector<context *> &contexts() {
  thread_local auto *stack = new std::vector<context *>;
  return *stack;
}

call::call(const char *name) : hold_(gpu().lock) {
  if (gpu().log_calls) std::fprintf(stderr, "ptx: %s\n", name);
}

result device::report_failure() {
  const result r = failed;
  if (!sticky) failed = result::success;
  return r;
}

result device::refuse(result r, const std::string &why) {
  std::fprintf(stderr, "ptx emulator: %s\n", why.c_str());
  last_error = why;
  return r;
}

void finish_blocking_streams() {
  for (stream *s : gpu().streams)
    if (s->blocking) finish(*s);
}
void finish_all_streams() {
  for (stream *s : gpu().streams) finish(*s);
}

result submit(stream *s, std::function<void()> work) {
  if (is_default(s)) {
    finish_blocking_streams();
    work();
  } else if (is_of_thread(s)) {
    work();
  } else {
    if (!gpu().streams.count(s)) return result::invalid_handle;
    s->work.push_back(std::move(work));
  }
  return gpu().report_failure();
}

result synchronise(stream *s) {
  if (is_default(s)) {
    finish_blocking_streams();
  } else if (!is_of_thread(s)) {
    if (!gpu().streams.count(s)) return result::invalid_handle;
    finish(*s);
  }
  return gpu().report_failure();
}

}  // namespace qkv::ptx
