/* linear_vs_softmax_kernels: written by the code generator. */
#include "linear_vs_softmax_kernels.kernels.h"

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

static int in_order_softmax_attention(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], &last[0], a[4]};
  return code(b);
}
extern int qkv_code_softmax_attention_x86_64_v4_argv(void **);
static int enter_qkv_code_softmax_attention_x86_64_v4(void **a) { return in_order_softmax_attention(qkv_code_softmax_attention_x86_64_v4_argv, a); }
extern int qkv_code_softmax_attention_x86_64_v3_argv(void **);
static int enter_qkv_code_softmax_attention_x86_64_v3(void **a) { return in_order_softmax_attention(qkv_code_softmax_attention_x86_64_v3_argv, a); }
extern int qkv_code_softmax_attention_cuda_argv(void **);
static int enter_qkv_code_softmax_attention_cuda(void **a) { return in_order_softmax_attention(qkv_code_softmax_attention_cuda_argv, a); }
extern int qkv_code_softmax_attention_opencl_argv(void **);
static int enter_qkv_code_softmax_attention_opencl(void **a) { return in_order_softmax_attention(qkv_code_softmax_attention_opencl_argv, a); }
static const qkv_axis axes_softmax_attention[] = {
    {"heads", 8, 0},
    {"seq", -1, 1},
    {"d_k", 64, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
};
static const int32_t axes_of_softmax_attention__Q[] = {0, 1, 2};
static const int32_t axes_of_softmax_attention__K[] = {0, 3, 2};
static const int32_t axes_of_softmax_attention__V[] = {0, 3, 4};
static const int32_t axes_of_softmax_attention__O[] = {0, 1, 4};
static const qkv_argument arguments_softmax_attention[] = {
    {"Q", QKV_IN, 0, 3, axes_of_softmax_attention__Q},
    {"K", QKV_IN, 0, 3, axes_of_softmax_attention__K},
    {"V", QKV_IN, 0, 3, axes_of_softmax_attention__V},
    {"O", QKV_OUT, 0, 3, axes_of_softmax_attention__O},
};
static const qkv_variant variants_softmax_attention[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_softmax_attention_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_softmax_attention_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_softmax_attention_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_softmax_attention_opencl, 0, 0},
};
static const qkv_kernel kernel_softmax_attention = {
    QKV_ABI, "softmax_attention", UINT64_C(16386987786353301978), 5, 4, 0, 4,
    axes_softmax_attention, arguments_softmax_attention, 0, variants_softmax_attention};

int qkv_softmax_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_softmax_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_softmax_attention, a, 4, 0, 0);
}

static int in_order_linear_attention(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], &last[0], a[4]};
  return code(b);
}
extern int qkv_code_linear_attention_x86_64_v4_argv(void **);
static int enter_qkv_code_linear_attention_x86_64_v4(void **a) { return in_order_linear_attention(qkv_code_linear_attention_x86_64_v4_argv, a); }
extern int qkv_code_linear_attention_x86_64_v3_argv(void **);
static int enter_qkv_code_linear_attention_x86_64_v3(void **a) { return in_order_linear_attention(qkv_code_linear_attention_x86_64_v3_argv, a); }
extern int qkv_code_linear_attention_cuda_argv(void **);
static int enter_qkv_code_linear_attention_cuda(void **a) { return in_order_linear_attention(qkv_code_linear_attention_cuda_argv, a); }
extern int qkv_code_linear_attention_opencl_argv(void **);
static int enter_qkv_code_linear_attention_opencl(void **a) { return in_order_linear_attention(qkv_code_linear_attention_opencl_argv, a); }
static const qkv_axis axes_linear_attention[] = {
    {"heads", 8, 0},
    {"seq", -1, 1},
    {"d_k", 64, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
};
static const int32_t axes_of_linear_attention__Q[] = {0, 1, 2};
static const int32_t axes_of_linear_attention__K[] = {0, 3, 2};
static const int32_t axes_of_linear_attention__V[] = {0, 3, 4};
static const int32_t axes_of_linear_attention__O[] = {0, 1, 4};
static const qkv_argument arguments_linear_attention[] = {
    {"Q", QKV_IN, 0, 3, axes_of_linear_attention__Q},
    {"K", QKV_IN, 0, 3, axes_of_linear_attention__K},
    {"V", QKV_IN, 0, 3, axes_of_linear_attention__V},
    {"O", QKV_OUT, 0, 3, axes_of_linear_attention__O},
};
static const qkv_variant variants_linear_attention[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_linear_attention_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_linear_attention_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_linear_attention_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_linear_attention_opencl, 0, 0},
};
static const qkv_kernel kernel_linear_attention = {
    QKV_ABI, "linear_attention", UINT64_C(5738158790387549618), 5, 4, 0, 4,
    axes_linear_attention, arguments_linear_attention, 0, variants_linear_attention};

int qkv_linear_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_linear_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_linear_attention, a, 4, 0, 0);
}

const qkv_kernel *const qkv_library_linear_vs_softmax_kernels[] = {&kernel_softmax_attention, &kernel_linear_attention};

static qkv_library library = {"linear_vs_softmax_kernels", qkv_library_linear_vs_softmax_kernels, 2, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
