// SPDX-License-Identifier: BSL-1.0
#pragma once
// The Halide runtime as the runtime library sees it: every function may be absent, since a program
// whose kernels are not made by Halide links none; private to the runtime.
#include <HalideRuntime.h>
#include <HalideRuntimeCuda.h>
#include <HalideRuntimeOpenCL.h>

#pragma weak halide_error
#pragma weak halide_malloc
#pragma weak halide_free
#pragma weak halide_do_par_for
#pragma weak halide_set_error_handler
#pragma weak halide_set_custom_malloc
#pragma weak halide_set_custom_free
#pragma weak halide_set_custom_do_par_for
#pragma weak halide_set_custom_load_library
#pragma weak halide_default_load_library
#pragma weak halide_set_cuda_acquire_context
#pragma weak halide_set_cuda_release_context
#pragma weak halide_set_cuda_get_stream
#pragma weak halide_cuda_device_interface
#pragma weak halide_opencl_device_interface
#pragma weak halide_cuda_get_device_ptr
#pragma weak halide_opencl_get_cl_mem
#pragma weak halide_cuda_release_unused_device_allocations

namespace qkv::detail {

// Keeps the library that holds this code loaded. Returns nullptr if it is this one or the program,
// which need no keeping, or a handle for dlclose().
void *keep_loaded(const void *code) noexcept;
void let_go(void *library) noexcept;

// One handler of a Halide runtime that other copies of this library may share. Calls that are not
// for this copy go on to the handler that was installed before.
template <class F>
class handler {
 public:
  F before = nullptr;

  // `set` is absent where no Halide runtime is linked. The handler before may be that of another
  // copy: the library that contains it stays loaded as long as calls go on to it.
  void install(F (*set)(F), F ours) {
    if (!set || set_) return;
    set_ = set;
    ours_ = ours;
    before = set(ours);
    library_of_before_ = keep_loaded(reinterpret_cast<const void *>(before));
  }

  // Does nothing if another handler was installed after this one: it may go on to this one, until
  // the process ends.
  void give_back() {
    if (!set_) return;
    if (const F now = set_(before); now != ours_) {
      set_(now);
      return;
    }
    set_ = nullptr;
    let_go(library_of_before_);
  }

 private:
  F (*set_)(F) = nullptr;
  F ours_ = nullptr;
  void *library_of_before_ = nullptr;
};

}  // namespace qkv::detail
