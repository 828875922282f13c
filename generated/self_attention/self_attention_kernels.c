/* self_attention_kernels: written by the code generator. */
#include "self_attention_kernels.kernels.h"

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

static int in_order_self_attention(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return code(b);
}
extern int qkv_code_self_attention_x86_64_v4_argv(void **);
static int enter_qkv_code_self_attention_x86_64_v4(void **a) { return in_order_self_attention(qkv_code_self_attention_x86_64_v4_argv, a); }
extern int qkv_code_self_attention_x86_64_v3_argv(void **);
static int enter_qkv_code_self_attention_x86_64_v3(void **a) { return in_order_self_attention(qkv_code_self_attention_x86_64_v3_argv, a); }
extern int qkv_code_self_attention_cuda_argv(void **);
static int enter_qkv_code_self_attention_cuda(void **a) { return in_order_self_attention(qkv_code_self_attention_cuda_argv, a); }
extern int qkv_code_self_attention_opencl_argv(void **);
static int enter_qkv_code_self_attention_opencl(void **a) { return in_order_self_attention(qkv_code_self_attention_opencl_argv, a); }
static const qkv_axis axes_self_attention[] = {
    {"batch", -1, 0},
    {"heads", 8, 1},
    {"seq", -1, 2},
    {"d_k", 64, 3},
    {"kv", -1, 2},
    {"d_v", 64, 5},
};
static const int32_t axes_of_self_attention__Q[] = {0, 1, 2, 3};
static const int32_t axes_of_self_attention__K[] = {0, 1, 4, 3};
static const int32_t axes_of_self_attention__V[] = {0, 1, 4, 5};
static const int32_t axes_of_self_attention__O[] = {0, 1, 2, 5};
static const qkv_argument arguments_self_attention[] = {
    {"Q", QKV_IN, 0, 4, axes_of_self_attention__Q},
    {"K", QKV_IN, 0, 4, axes_of_self_attention__K},
    {"V", QKV_IN, 0, 4, axes_of_self_attention__V},
    {"O", QKV_OUT, 0, 4, axes_of_self_attention__O},
};
static const qkv_variant variants_self_attention[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_self_attention_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_self_attention_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_self_attention_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_self_attention_opencl, 0, 0},
};
static const qkv_kernel kernel_self_attention = {
    QKV_ABI, "self_attention", UINT64_C(3971485140726641288), 6, 4, 0, 4,
    axes_self_attention, arguments_self_attention, 0, variants_self_attention};

int qkv_self_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_self_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_self_attention, a, 4, 0, 0);
}

static int in_order_causal_attention(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return code(b);
}
extern int qkv_code_causal_attention_x86_64_v4_argv(void **);
static int enter_qkv_code_causal_attention_x86_64_v4(void **a) { return in_order_causal_attention(qkv_code_causal_attention_x86_64_v4_argv, a); }
extern int qkv_code_causal_attention_x86_64_v3_argv(void **);
static int enter_qkv_code_causal_attention_x86_64_v3(void **a) { return in_order_causal_attention(qkv_code_causal_attention_x86_64_v3_argv, a); }
extern int qkv_code_causal_attention_cuda_argv(void **);
static int enter_qkv_code_causal_attention_cuda(void **a) { return in_order_causal_attention(qkv_code_causal_attention_cuda_argv, a); }
extern int qkv_code_causal_attention_opencl_argv(void **);
static int enter_qkv_code_causal_attention_opencl(void **a) { return in_order_causal_attention(qkv_code_causal_attention_opencl_argv, a); }
static const qkv_axis axes_causal_attention[] = {
    {"batch", -1, 0},
    {"heads", 8, 1},
    {"seq", -1, 2},
    {"d_k", 64, 3},
    {"kv", -1, 2},
    {"d_v", 64, 5},
};
static const int32_t axes_of_causal_attention__Q[] = {0, 1, 2, 3};
static const int32_t axes_of_causal_attention__K[] = {0, 1, 4, 3};
static const int32_t axes_of_causal_attention__V[] = {0, 1, 4, 5};
static const int32_t axes_of_causal_attention__O[] = {0, 1, 2, 5};
static const qkv_argument arguments_causal_attention[] = {
    {"Q", QKV_IN, 0, 4, axes_of_causal_attention__Q},
    {"K", QKV_IN, 0, 4, axes_of_causal_attention__K},
    {"V", QKV_IN, 0, 4, axes_of_causal_attention__V},
    {"O", QKV_OUT, 0, 4, axes_of_causal_attention__O},
};
static const qkv_variant variants_causal_attention[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_causal_attention_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_causal_attention_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_causal_attention_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_causal_attention_opencl, 0, 0},
};
static const qkv_kernel kernel_causal_attention = {
    QKV_ABI, "causal_attention", UINT64_C(18260755677301129849), 6, 4, 0, 4,
    axes_causal_attention, arguments_causal_attention, 0, variants_causal_attention};

int qkv_causal_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_causal_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_causal_attention, a, 4, 0, 0);
}

const qkv_kernel *const qkv_library_self_attention_kernels[] = {&kernel_self_attention, &kernel_causal_attention};

static qkv_library library = {"self_attention_kernels", qkv_library_self_attention_kernels, 2, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
