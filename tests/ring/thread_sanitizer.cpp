// SPDX-License-Identifier: BSL-1.0
// The thread sanitizer sees the pthread calls of Halide's runtime and not the atomics that order
// them: a waiting thread makes a mutex, and another one finds it under a lock of atomics and wakes
// the first. These calls are not a race.
extern "C" const char *
__tsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier): the sanitizer's name

extern "C" const char *__tsan_default_suppressions() {
  return "race:Halide::Runtime::Internal::Synchronization::\n";
}
