// SPDX-License-Identifier: BSL-1.0
#pragma once
// The threads that run the parallel loops of a kernel: the runtime's own, or an executor of the
// caller's.

namespace qkv {

// Somebody else's threads. run() calls task(state, i) once for each i in [0, n), on any threads and
// in any order, and returns when all are done. The calling thread may take part. Results do not
// depend on how the work is shared out. No task calls run().
class executor {
 public:
  virtual ~executor() = default;
  virtual void run(int n, void (*task)(void *state, int i), void *state) = 0;
};

// The number of threads a call may use, the calling one included, unless its options set it; n < 1
// means as many as the process may run on. Threads start when first needed and stay. Takes effect
// with the next call.
void set_threads(int n);
int threads();

}  // namespace qkv
