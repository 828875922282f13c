#pragma once
// The Halide runtime as the runtime library sees it: every function may be absent, since a program whose kernels are
// not made by Halide links none; private to the runtime.
#include <HalideRuntime.h>
#include <HalideRuntimeCuda.h>
#include <HalideRuntimeOpenCL.h>

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
#pragma weak halide_cuda_wrap_device_ptr
#pragma weak halide_cuda_detach_device_ptr
#pragma weak halide_opencl_device_interface
#pragma weak halide_opencl_wrap_cl_mem
#pragma weak halide_opencl_detach_cl_mem
#pragma weak halide_copy_to_host
#pragma weak halide_copy_to_device
#pragma weak halide_device_malloc
#pragma weak halide_cuda_get_device_ptr
#pragma weak halide_opencl_get_cl_mem
#pragma weak halide_device_free
#pragma weak halide_device_sync
