// SPDX-License-Identifier: BSL-1.0
#pragma once
// Options of a call: where it runs, on which threads, in which memory. The defaults suit a program
// without special needs.
#include <qkv/status.hpp>
#include <qkv/threads.hpp>
#include <qkv/workspace.hpp>

namespace qkv {

// The place of memory and of a kernel; the numbers are those of qkv/kernel.h.
enum class device : int { host = 0, cuda = 1, opencl = 2 };

struct options {
  // Tensors on a device choose it by themselves; set this to run host tensors there. They are
  // copied there and back.
  device on = device::host;
  int threads = 0;                      // at most so many; 0 or less: the number of set_threads
  qkv::executor *executor = nullptr;    // somebody else's threads; nullptr: the runtime's own
  qkv::workspace *workspace = nullptr;  // nullptr: qkv::default_workspace()
  // Adds to the outputs what the kernel computes, as gradients over several batches do. f32 and f64
  // outputs in host memory only. Cost: memory for the results, and one more pass over them.
  bool accumulate = false;
  // Of CUDA only: a CUcontext to run in (nullptr: the calling thread's current one, or the primary
  // one of the first device, as in CUDA's own runtime) and a CUstream (nullptr: the context's
  // default). With a stream, a call on device tensors returns before the kernel is done. The
  // context must outlive the program's calls, prepared params and device_memory: its kernels and
  // its memory are kept for later calls.
  void *device_context = nullptr;
  void *device_stream = nullptr;
};

}  // namespace qkv
