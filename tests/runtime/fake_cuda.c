/* SPDX-License-Identifier: BSL-1.0 */
/* A CUDA driver without a GPU: device memory is host memory, kernels are not run, and what matters is written to the
 * file that QKV_FAKE_CUDA_LOG names. Tests see by it what compiled code asks of the driver, and in which context. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;
typedef void *handle;
enum { refused = 1 };

static void note(const char *what, handle on) {
  const char *path = getenv("QKV_FAKE_CUDA_LOG");
  FILE *f = path ? fopen(path, "a") : NULL;
  if (!f) return;
  fprintf(f, "%s %lx\n", what, (unsigned long)on);
  fclose(f);
}

int cuInit(unsigned flags) { return (void)flags, 0; }
int cuDeviceGetCount(int *n) { return *n = 1, 0; }
int cuDeviceGet(int *device, int i) { return *device = i, 0; }
int cuDeviceGetName(char *name, int n, int device) { return (void)device, snprintf(name, (size_t)n, "fake"), 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { return (void)device, *bytes = (size_t)1 << 32, 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  enum { major = 75, minor = 76, shared_bytes = 97 };
  (void)device;
  *value = attribute == major ? 9 : attribute == minor ? 0 : 1024;
  if (attribute == shared_bytes) *value = getenv("QKV_FAKE_CUDA_SMALL") ? 16384 : 232448;
  return 0;
}

int cuCtxCreate_v2(handle *context, unsigned flags, int device) {
  (void)flags, (void)device;
  *context = (handle)0xc2;
  return 0;
}
int cuCtxDestroy_v2(handle context) { return (void)context, 0; }
int cuCtxGetApiVersion(handle context, unsigned *version) { return (void)context, *version = 13000, 0; }
int cuCtxGetDevice(int *device) { return *device = 0, 0; }

enum { most = 16 };
static _Thread_local handle contexts[most];
static _Thread_local int n_contexts = 0;
int cuCtxPushCurrent_v2(handle context) {
  if (n_contexts == most) return refused;
  contexts[n_contexts++] = context;
  return note("push", context), 0;
}
int cuCtxPopCurrent_v2(handle *context) {
  if (n_contexts == 0) return refused;
  return *context = contexts[--n_contexts], 0;
}
int cuCtxGetCurrent(handle *context) { return *context = n_contexts > 0 ? contexts[n_contexts - 1] : NULL, 0; }
int cuCtxSetCurrent(handle context) {
  n_contexts = 0;
  if (context) contexts[n_contexts++] = context;
  return 0;
}
int cuCtxSynchronize(void) { return note("synchronize", NULL), 0; }
int cuDevicePrimaryCtxRetain(handle *context, int device) { return (void)device, *context = (handle)0xc1, 0; }
int cuDevicePrimaryCtxRelease(int device) { return (void)device, 0; }

int cuModuleLoadData(handle *module, const void *image) { return *module = (handle)image, 0; }
int cuModuleLoadDataEx(handle *module, const void *image, unsigned n, void *options, void **values) {
  (void)n, (void)options, (void)values;
  return cuModuleLoadData(module, image);
}
int cuModuleUnload(handle module) { return (void)module, 0; }
int cuModuleGetFunction(handle *function, handle module, const char *name) { return (void)module, (void)name, *function = (handle)0xf1, 0; }
int cuFuncSetAttribute(handle function, int attribute, int value) { return (void)function, (void)attribute, (void)value, 0; }

int cuMemAlloc_v2(address *memory, size_t bytes) {
  if (getenv("QKV_FAKE_CUDA_FULL")) return 2; /* CUDA_ERROR_OUT_OF_MEMORY */
  *memory = (address)calloc(1, bytes);
  return note("alloc", NULL), 0;
}
int cuMemFree_v2(address memory) {
  if (n_contexts == 0) return note("free without a context", NULL), 201; /* CUDA_ERROR_INVALID_CONTEXT */
  return free((void *)memory), note("free", NULL), 0;
}
int cuMemcpyHtoD_v2(address to, const void *from, size_t n) { return memcpy((void *)to, from, n), note("upload", NULL), 0; }
int cuMemcpyDtoH_v2(void *to, address from, size_t n) { return memcpy(to, (void *)from, n), note("download", NULL), 0; }
int cuMemcpyDtoD_v2(address to, address from, size_t n) { return memcpy((void *)to, (void *)from, n), 0; }
int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t n, handle stream) { return note("stream", stream), cuMemcpyHtoD_v2(to, from, n); }
int cuMemcpyDtoHAsync_v2(void *to, address from, size_t n, handle stream) { return note("stream", stream), cuMemcpyDtoH_v2(to, from, n); }
int cuMemcpyDtoDAsync_v2(address to, address from, size_t n, handle stream) { return note("stream", stream), cuMemcpyDtoD_v2(to, from, n); }
int cuMemcpy3D_v2(const void *copy) { return (void)copy, refused; }
int cuPointerGetAttribute(void *value, int attribute, address p) { return (void)value, (void)attribute, (void)p, refused; }
int cuStreamSynchronize(handle stream) { return note("wait", stream), 0; }
int cuProfilerStop(void) { return 0; }
int cuLaunchKernel(handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   handle stream, void **arguments, void **extra) {
  (void)function, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)arguments, (void)extra;
  if (getenv("QKV_FAKE_CUDA_FAILS")) return 719; /* CUDA_ERROR_LAUNCH_FAILED */
  return note("launch", stream), 0;
}
