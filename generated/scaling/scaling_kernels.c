/* scaling_kernels: written by the code generator. */
#include "scaling_kernels.kernels.h"

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

static int in_order_scaling(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[7]), last_position(a[8]), last_position(a[9])};
  void *b[] = {a[0], a[1], a[2], a[7], a[8], a[9], &last[0], &last[1], &last[2], a[3], a[4], a[5], a[6]};
  return code(b);
}
extern int qkv_code_scaling_x86_64_v4_argv(void **);
static int enter_qkv_code_scaling_x86_64_v4(void **a) { return in_order_scaling(qkv_code_scaling_x86_64_v4_argv, a); }
extern int qkv_code_scaling_x86_64_v3_argv(void **);
static int enter_qkv_code_scaling_x86_64_v3(void **a) { return in_order_scaling(qkv_code_scaling_x86_64_v3_argv, a); }
extern int qkv_code_scaling_cuda_argv(void **);
static int enter_qkv_code_scaling_cuda(void **a) { return in_order_scaling(qkv_code_scaling_cuda_argv, a); }
extern int qkv_code_scaling_opencl_argv(void **);
static int enter_qkv_code_scaling_opencl(void **a) { return in_order_scaling(qkv_code_scaling_opencl_argv, a); }
static const qkv_axis axes_scaling[] = {
    {"query", -1, 0},
    {"d_k", -1, 1},
    {"key", -1, 2},
};
static const int32_t axes_of_scaling__Q[] = {0, 1};
static const int32_t axes_of_scaling__K[] = {2, 1};
static const int32_t axes_of_scaling__largest[] = {0};
static const int32_t axes_of_scaling__scaled_largest[] = {0};
static const qkv_argument arguments_scaling[] = {
    {"Q", QKV_IN, 0, 2, axes_of_scaling__Q},
    {"K", QKV_IN, 0, 2, axes_of_scaling__K},
    {"variance", QKV_OUT, 0, 0, 0},
    {"scaled_variance", QKV_OUT, 0, 0, 0},
    {"largest", QKV_OUT, 0, 1, axes_of_scaling__largest},
    {"scaled_largest", QKV_OUT, 0, 1, axes_of_scaling__scaled_largest},
};
static const qkv_variant variants_scaling[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_scaling_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_scaling_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_scaling_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_scaling_opencl, 0, 0},
};
static const qkv_kernel kernel_scaling = {
    QKV_ABI, "scaling", UINT64_C(4202801101444329405), 3, 6, 0, 4,
    axes_scaling, arguments_scaling, 0, variants_scaling};

int qkv_scaling(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5) return qkv_call(&kernel_scaling, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5};
  return qkv_call(&kernel_scaling, a, 6, 0, 0);
}

const qkv_kernel *const qkv_library_scaling_kernels[] = {&kernel_scaling};

static qkv_library library = {"scaling_kernels", qkv_library_scaling_kernels, 1, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
