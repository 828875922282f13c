#pragma once
// Context of one call, which compiled code receives as its user context; private to the runtime.
#include <array>
#include <atomic>
#include <cstdint>
#include <qkv/options.hpp>

namespace qkv::detail {

struct context {
  static constexpr std::uint64_t ours =
      0x716b762d63616c6c;  // other Halide code of the process has contexts of its own

  std::uint64_t mark = ours;
  const options &how;
  workspace &memory;
  int threads;
  std::atomic<bool> has_text{false}, no_memory{false};
  std::array<char, 400> text{};  // the first error that compiled code reported

  explicit context(const options &o)
      : how(o),
        memory(o.workspace ? *o.workspace : default_workspace()),
        threads(o.threads > 0 ? o.threads : qkv::threads()) {}

  // nullptr when this is not the context of a call of ours.
  static context *of(void *p) {
    auto *c = static_cast<context *>(p);
    return c && c->mark == ours ? c : nullptr;
  }
  void report(const char *message) noexcept;
};

// Makes compiled code use the context for errors, memory, threads and devices. Cheap after the first time.
void take_over_halide();

// Keeps Halide taken over during a call.
class running_call {
 public:
  running_call();
  ~running_call();
  running_call(const running_call &) = delete;
  running_call &operator=(const running_call &) = delete;
};

// Each hands its part of the Halide runtime to the context; called once.
void take_over_errors();
void take_over_memory();
void take_over_threads();
void take_over_devices();
void give_back_devices();

}  // namespace qkv::detail
