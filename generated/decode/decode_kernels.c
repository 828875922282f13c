/* decode_kernels: written by the code generator. */
#include "decode_kernels.kernels.h"

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

static int in_order_decode(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[6]), last_position(a[7]), last_position(a[8])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[6], a[7], a[8], &last[0], &last[1], &last[2], a[5]};
  return code(b);
}
extern int qkv_code_decode_x86_64_v4_argv(void **);
static int enter_qkv_code_decode_x86_64_v4(void **a) { return in_order_decode(qkv_code_decode_x86_64_v4_argv, a); }
extern int qkv_code_decode_x86_64_v3_argv(void **);
static int enter_qkv_code_decode_x86_64_v3(void **a) { return in_order_decode(qkv_code_decode_x86_64_v3_argv, a); }
extern int qkv_code_decode_cuda_argv(void **);
static int enter_qkv_code_decode_cuda(void **a) { return in_order_decode(qkv_code_decode_cuda_argv, a); }
extern int qkv_code_decode_opencl_argv(void **);
static int enter_qkv_code_decode_opencl(void **a) { return in_order_decode(qkv_code_decode_opencl_argv, a); }
static const qkv_axis axes_decode[] = {
    {"batch", -1, 0},
    {"heads", 8, 1},
    {"seq", -1, 2},
    {"d_k", 64, 3},
    {"slots", -1, 4},
    {"d_v", 64, 5},
};
static const int32_t axes_of_decode__Q[] = {0, 1, 2, 3};
static const int32_t axes_of_decode__K[] = {0, 1, 4, 3};
static const int32_t axes_of_decode__V[] = {0, 1, 4, 5};
static const int32_t axes_of_decode__length[] = {0};
static const int32_t axes_of_decode__O[] = {0, 1, 2, 5};
static const qkv_argument arguments_decode[] = {
    {"Q", QKV_IN, 0, 4, axes_of_decode__Q},
    {"K", QKV_IN, 0, 4, axes_of_decode__K},
    {"V", QKV_IN, 0, 4, axes_of_decode__V},
    {"length", QKV_IN, 4, 1, axes_of_decode__length},
    {"O", QKV_OUT, 0, 4, axes_of_decode__O},
};
static const qkv_variant variants_decode[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_decode_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_decode_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_decode_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_decode_opencl, 0, 0},
};
static const qkv_kernel kernel_decode = {
    QKV_ABI, "decode", UINT64_C(2726534260538799163), 6, 5, 0, 4,
    axes_decode, arguments_decode, 0, variants_decode};

int qkv_decode(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4) {
  if (!a0 || !a1 || !a2 || !a3 || !a4) return qkv_call(&kernel_decode, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4};
  return qkv_call(&kernel_decode, a, 5, 0, 0);
}

static int in_order_prefill(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return code(b);
}
extern int qkv_code_prefill_x86_64_v4_argv(void **);
static int enter_qkv_code_prefill_x86_64_v4(void **a) { return in_order_prefill(qkv_code_prefill_x86_64_v4_argv, a); }
extern int qkv_code_prefill_x86_64_v3_argv(void **);
static int enter_qkv_code_prefill_x86_64_v3(void **a) { return in_order_prefill(qkv_code_prefill_x86_64_v3_argv, a); }
extern int qkv_code_prefill_cuda_argv(void **);
static int enter_qkv_code_prefill_cuda(void **a) { return in_order_prefill(qkv_code_prefill_cuda_argv, a); }
extern int qkv_code_prefill_opencl_argv(void **);
static int enter_qkv_code_prefill_opencl(void **a) { return in_order_prefill(qkv_code_prefill_opencl_argv, a); }
static const qkv_axis axes_prefill[] = {
    {"batch", -1, 0},
    {"heads", 8, 1},
    {"seq", -1, 2},
    {"d_k", 64, 3},
    {"kv", -1, 2},
    {"d_v", 64, 5},
};
static const int32_t axes_of_prefill__Q[] = {0, 1, 2, 3};
static const int32_t axes_of_prefill__K[] = {0, 1, 4, 3};
static const int32_t axes_of_prefill__V[] = {0, 1, 4, 5};
static const int32_t axes_of_prefill__O[] = {0, 1, 2, 5};
static const qkv_argument arguments_prefill[] = {
    {"Q", QKV_IN, 0, 4, axes_of_prefill__Q},
    {"K", QKV_IN, 0, 4, axes_of_prefill__K},
    {"V", QKV_IN, 0, 4, axes_of_prefill__V},
    {"O", QKV_OUT, 0, 4, axes_of_prefill__O},
};
static const qkv_variant variants_prefill[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_prefill_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_prefill_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_prefill_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_prefill_opencl, 0, 0},
};
static const qkv_kernel kernel_prefill = {
    QKV_ABI, "prefill", UINT64_C(7841948369688747934), 6, 4, 0, 4,
    axes_prefill, arguments_prefill, 0, variants_prefill};

int qkv_prefill(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_prefill, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_prefill, a, 4, 0, 0);
}

const qkv_kernel *const qkv_library_decode_kernels[] = {&kernel_decode, &kernel_prefill};

static qkv_library library = {"decode_kernels", qkv_library_decode_kernels, 2, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
