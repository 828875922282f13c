// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels run with the default floating-point state, whatever the caller's is; private to the
// runtime.
#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace qkv::detail {

// Sets round-to-nearest, no flushing of denormals and no traps, and puts back the caller's state
// with its flags: else results would depend on the caller and on which thread computes them.
class float_state_guard {
 public:
#if defined(__x86_64__)
  float_state_guard() : kept_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~float_state_guard() { _mm_setcsr(kept_); }

 private:
  unsigned kept_;
#else
  float_state_guard() {
    std::fegetenv(&kept_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~float_state_guard() { std::fesetenv(&kept_); }

 private:
  std::fenv_t kept_;
#endif
 public:
  float_state_guard(const float_state_guard &) = delete;
  float_state_guard &operator=(const float_state_guard &) = delete;
};

}  // namespace qkv::detail
