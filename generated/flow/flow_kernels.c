/* flow_kernels: written by the code generator. */
#include "flow_kernels.kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline int32_t last_position(const void *size) {
  const int32_t n = *(const int32_t *)size;
  return n > 1 ? n - 1 : 0;
}

extern int halide_can_use_target_features(int count, const uint64_t *features);
static int can_run_x86_64_v4(void) {
  static const uint64_t features[] = {UINT64_C(0x50000000ae0), UINT64_C(0x0)};
  return halide_can_use_target_features(2, features);
}
static int can_run_x86_64_v3(void) {
  static const uint64_t features[] = {UINT64_C(0xae0), UINT64_C(0x0)};
  return halide_can_use_target_features(2, features);
}
static int can_run_cuda(void) {
  static const uint64_t features[] = {UINT64_C(0x1010ae0), UINT64_C(0x0)};
  return halide_can_use_target_features(2, features);
}
static int can_run_opencl(void) {
  static const uint64_t features[] = {UINT64_C(0x4000ae0), UINT64_C(0x0)};
  return halide_can_use_target_features(2, features);
}

static int in_order_flow(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[12])};
  void *b[] = {a[0], a[1], a[2], a[3], a[12], &last[0], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]};
  return code(b);
}
extern int qkv_code_flow_x86_64_v4_argv(void **);
static int enter_qkv_code_flow_x86_64_v4(void **a) { return in_order_flow(qkv_code_flow_x86_64_v4_argv, a); }
extern int qkv_code_flow_x86_64_v3_argv(void **);
static int enter_qkv_code_flow_x86_64_v3(void **a) { return in_order_flow(qkv_code_flow_x86_64_v3_argv, a); }
extern int qkv_code_flow_cuda_argv(void **);
static int enter_qkv_code_flow_cuda(void **a) { return in_order_flow(qkv_code_flow_cuda_argv, a); }
extern int qkv_code_flow_opencl_argv(void **);
static int enter_qkv_code_flow_opencl(void **a) { return in_order_flow(qkv_code_flow_opencl_argv, a); }
static const qkv_axis axes_flow[] = {
    {"token", -1, 0},
    {"xy", 2, 1},
    {"other", -1, 0},
};
static const int32_t axes_of_flow__X[] = {0, 1};
static const int32_t axes_of_flow__X1[] = {0, 1};
static const int32_t axes_of_flow__X2[] = {0, 1};
static const int32_t axes_of_flow__X3[] = {0, 1};
static const int32_t axes_of_flow__X4[] = {0, 1};
static const int32_t axes_of_flow__X5[] = {0, 1};
static const int32_t axes_of_flow__X6[] = {0, 1};
static const int32_t axes_of_flow__X7[] = {0, 1};
static const int32_t axes_of_flow__X8[] = {0, 1};
static const qkv_argument arguments_flow[] = {
    {"X", QKV_IN, 0, 2, axes_of_flow__X},
    {"beta", QKV_IN, 0, 0, 0},
    {"rate", QKV_IN, 0, 0, 0},
    {"X1", QKV_OUT, 0, 2, axes_of_flow__X1},
    {"X2", QKV_OUT, 0, 2, axes_of_flow__X2},
    {"X3", QKV_OUT, 0, 2, axes_of_flow__X3},
    {"X4", QKV_OUT, 0, 2, axes_of_flow__X4},
    {"X5", QKV_OUT, 0, 2, axes_of_flow__X5},
    {"X6", QKV_OUT, 0, 2, axes_of_flow__X6},
    {"X7", QKV_OUT, 0, 2, axes_of_flow__X7},
    {"X8", QKV_OUT, 0, 2, axes_of_flow__X8},
};
static const qkv_variant variants_flow[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_flow_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_flow_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_flow_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_flow_opencl, 0, 0},
};
static const qkv_kernel kernel_flow = {
    QKV_ABI, "flow", UINT64_C(9035314229767266457), 3, 11, 0, 4,
    axes_flow, arguments_flow, 0, variants_flow};

int qkv_flow(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9, const qkv_tensor *a10) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9 || !a10) return qkv_call(&kernel_flow, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9, *a10};
  return qkv_call(&kernel_flow, a, 11, 0, 0);
}

const qkv_kernel *const qkv_library_flow_kernels[] = {&kernel_flow};

static qkv_library library = {"flow_kernels", qkv_library_flow_kernels, 1, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
