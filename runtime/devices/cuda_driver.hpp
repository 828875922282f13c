// SPDX-License-Identifier: BSL-1.0
#pragma once
// Functions of CUDA's driver, which is loaded when one is first needed; private to the runtime.
#include <dlfcn.h>

namespace qkv::detail {

// Null where there is none.
void *cuda_driver();

template <class... Argument>
using driver_function = int (*)(Argument...);  // returns 0 where it succeeds

template <class F>
F cuda_function(const char *name) {
  return cuda_driver() ? reinterpret_cast<F>(dlsym(cuda_driver(), name)) : nullptr;
}

// The calling thread's current context, or the primary one of the first device. Null without a
// device.
void *context_of_thread();

// Makes a context the thread's current one while it lives.
class current_context {
 public:
  explicit current_context(void *context);
  current_context(const current_context &) = delete;
  current_context &operator=(const current_context &) = delete;
  ~current_context();
  bool ok() const { return pushed_; }

 private:
  bool pushed_ = false;
};

}  // namespace qkv::detail
