// SPDX-License-Identifier: BSL-1.0
#pragma once
// Context of one call, which compiled code receives as its user context; private to the runtime.
#include <array>
#include <atomic>
#include <cstdint>
#include <qkv/options.hpp>

namespace qkv::detail {

// Its address tells the contexts of this copy of the runtime from those of others and from those of
// other Halide code in the process.
extern const char this_runtime;

struct user_context {
  const void *mark = &this_runtime;
  options how;
  workspace &memory;
  int threads;
  std::atomic<bool> has_text{false}, no_memory{false};
  std::array<char, 400> text{};  // the first error that compiled code reported

  explicit user_context(const options &o)
      : how(o),
        memory(o.workspace ? *o.workspace : default_workspace()),
        threads(o.threads > 0 ? o.threads : qkv::threads()) {}

  // nullptr when this is not the context of a call of ours.
  static user_context *of(void *p) {
    auto *c = static_cast<user_context *>(p);
    return c && c->mark == &this_runtime ? c : nullptr;
  }
  void report(const char *message) noexcept;
};

// Makes compiled code use the context for errors, memory, threads and devices. Cheap after the
// first time.
void take_over_halide();

// Keeps Halide taken over during a call.
class running_call {
 public:
  running_call();
  ~running_call();
  running_call(const running_call &) = delete;
  running_call &operator=(const running_call &) = delete;
};

// The part of take_over_halide() that concerns devices.
void take_over_devices();
void give_back_devices();

}  // namespace qkv::detail
