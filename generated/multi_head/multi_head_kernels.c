/* multi_head_kernels: written by the code generator. */
#include "multi_head_kernels.kernels.h"

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

static int in_order_mha(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[8]), last_position(a[9])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[8], a[9], &last[0], &last[1], a[7]};
  return code(b);
}
extern int qkv_code_mha_x86_64_v4_argv(void **);
static int enter_qkv_code_mha_x86_64_v4(void **a) { return in_order_mha(qkv_code_mha_x86_64_v4_argv, a); }
extern int qkv_code_mha_x86_64_v3_argv(void **);
static int enter_qkv_code_mha_x86_64_v3(void **a) { return in_order_mha(qkv_code_mha_x86_64_v3_argv, a); }
extern int qkv_code_mha_cuda_argv(void **);
static int enter_qkv_code_mha_cuda(void **a) { return in_order_mha(qkv_code_mha_cuda_argv, a); }
extern int qkv_code_mha_opencl_argv(void **);
static int enter_qkv_code_mha_opencl(void **a) { return in_order_mha(qkv_code_mha_opencl_argv, a); }
static const qkv_axis axes_mha[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"d_model", 512, 2},
    {"heads", 8, 3},
    {"d_k", 64, 4},
    {"d_v", 64, 5},
    {"kv", -1, 1},
};
static const int32_t axes_of_mha__X[] = {0, 1, 2};
static const int32_t axes_of_mha__Wq[] = {2, 3, 4};
static const int32_t axes_of_mha__Wk[] = {2, 3, 4};
static const int32_t axes_of_mha__Wv[] = {2, 3, 5};
static const int32_t axes_of_mha__Wo[] = {3, 5, 2};
static const int32_t axes_of_mha__bo[] = {2};
static const int32_t axes_of_mha__Y[] = {0, 1, 2};
static const qkv_argument arguments_mha[] = {
    {"X", QKV_IN, 0, 3, axes_of_mha__X},
    {"Wq", QKV_PARAM, 0, 3, axes_of_mha__Wq},
    {"Wk", QKV_PARAM, 0, 3, axes_of_mha__Wk},
    {"Wv", QKV_PARAM, 0, 3, axes_of_mha__Wv},
    {"Wo", QKV_PARAM, 0, 3, axes_of_mha__Wo},
    {"bo", QKV_PARAM, 0, 1, axes_of_mha__bo},
    {"Y", QKV_OUT, 0, 3, axes_of_mha__Y},
};
static const int32_t pack_mha__Wk_outer[] = {1};
static const int32_t pack_mha__Wk_rows[] = {0};
static const int32_t pack_mha__Wk_columns[] = {2};
static const int32_t pack_mha__Wq_outer[] = {1};
static const int32_t pack_mha__Wq_rows[] = {0};
static const int32_t pack_mha__Wq_columns[] = {2};
static const int32_t pack_mha__Wv_outer[] = {1};
static const int32_t pack_mha__Wv_rows[] = {0};
static const int32_t pack_mha__Wv_columns[] = {2};
static const int32_t pack_mha__Wo_rows[] = {0, 1};
static const int32_t pack_mha__Wo_columns[] = {2};
static const qkv_pack packs_mha[] = {
    {2, 64, 1, 1, 1, pack_mha__Wk_outer, pack_mha__Wk_rows, pack_mha__Wk_columns},
    {1, 64, 1, 1, 1, pack_mha__Wq_outer, pack_mha__Wq_rows, pack_mha__Wq_columns},
    {3, 64, 1, 1, 1, pack_mha__Wv_outer, pack_mha__Wv_rows, pack_mha__Wv_columns},
    {4, 64, 0, 2, 1, 0, pack_mha__Wo_rows, pack_mha__Wo_columns},
};
static const qkv_variant variants_mha[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_mha_x86_64_v4, 4, packs_mha},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_mha_x86_64_v3, 4, packs_mha},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_mha_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_mha_opencl, 0, 0},
};
static const qkv_kernel kernel_mha = {
    QKV_ABI, "mha", UINT64_C(5745955856156895800), 7, 7, 0, 4,
    axes_mha, arguments_mha, 0, variants_mha};

int qkv_mha(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6) return qkv_call(&kernel_mha, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6};
  return qkv_call(&kernel_mha, a, 7, 0, 0);
}

static int in_order_mha_in_seven_steps(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[8]), last_position(a[9])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[8], a[9], &last[0], &last[1], a[7]};
  return code(b);
}
extern int qkv_code_mha_in_seven_steps_x86_64_v4_argv(void **);
static int enter_qkv_code_mha_in_seven_steps_x86_64_v4(void **a) { return in_order_mha_in_seven_steps(qkv_code_mha_in_seven_steps_x86_64_v4_argv, a); }
extern int qkv_code_mha_in_seven_steps_x86_64_v3_argv(void **);
static int enter_qkv_code_mha_in_seven_steps_x86_64_v3(void **a) { return in_order_mha_in_seven_steps(qkv_code_mha_in_seven_steps_x86_64_v3_argv, a); }
extern int qkv_code_mha_in_seven_steps_cuda_argv(void **);
static int enter_qkv_code_mha_in_seven_steps_cuda(void **a) { return in_order_mha_in_seven_steps(qkv_code_mha_in_seven_steps_cuda_argv, a); }
extern int qkv_code_mha_in_seven_steps_opencl_argv(void **);
static int enter_qkv_code_mha_in_seven_steps_opencl(void **a) { return in_order_mha_in_seven_steps(qkv_code_mha_in_seven_steps_opencl_argv, a); }
static const qkv_axis axes_mha_in_seven_steps[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"d_model", 512, 2},
    {"d_attn", 512, 3},
    {"heads", 8, 4},
    {"d_k", 64, 5},
    {"kv", -1, 1},
    {"d_v", 64, 7},
};
static const int32_t axes_of_mha_in_seven_steps__X[] = {0, 1, 2};
static const int32_t axes_of_mha_in_seven_steps__Wq[] = {2, 3};
static const int32_t axes_of_mha_in_seven_steps__Wk[] = {2, 3};
static const int32_t axes_of_mha_in_seven_steps__Wv[] = {2, 3};
static const int32_t axes_of_mha_in_seven_steps__Wo[] = {3, 2};
static const int32_t axes_of_mha_in_seven_steps__bo[] = {2};
static const int32_t axes_of_mha_in_seven_steps__Y[] = {0, 1, 2};
static const qkv_argument arguments_mha_in_seven_steps[] = {
    {"X", QKV_IN, 0, 3, axes_of_mha_in_seven_steps__X},
    {"Wq", QKV_PARAM, 0, 2, axes_of_mha_in_seven_steps__Wq},
    {"Wk", QKV_PARAM, 0, 2, axes_of_mha_in_seven_steps__Wk},
    {"Wv", QKV_PARAM, 0, 2, axes_of_mha_in_seven_steps__Wv},
    {"Wo", QKV_PARAM, 0, 2, axes_of_mha_in_seven_steps__Wo},
    {"bo", QKV_PARAM, 0, 1, axes_of_mha_in_seven_steps__bo},
    {"Y", QKV_OUT, 0, 3, axes_of_mha_in_seven_steps__Y},
};
static const int32_t pack_mha_in_seven_steps__Wq_rows[] = {0};
static const int32_t pack_mha_in_seven_steps__Wq_columns[] = {1};
static const int32_t pack_mha_in_seven_steps__Wk_rows[] = {0};
static const int32_t pack_mha_in_seven_steps__Wk_columns[] = {1};
static const int32_t pack_mha_in_seven_steps__Wv_rows[] = {0};
static const int32_t pack_mha_in_seven_steps__Wv_columns[] = {1};
static const int32_t pack_mha_in_seven_steps__Wo_rows[] = {0};
static const int32_t pack_mha_in_seven_steps__Wo_columns[] = {1};
static const qkv_pack packs_mha_in_seven_steps[] = {
    {1, 64, 0, 1, 1, 0, pack_mha_in_seven_steps__Wq_rows, pack_mha_in_seven_steps__Wq_columns},
    {2, 64, 0, 1, 1, 0, pack_mha_in_seven_steps__Wk_rows, pack_mha_in_seven_steps__Wk_columns},
    {3, 64, 0, 1, 1, 0, pack_mha_in_seven_steps__Wv_rows, pack_mha_in_seven_steps__Wv_columns},
    {4, 64, 0, 1, 1, 0, pack_mha_in_seven_steps__Wo_rows, pack_mha_in_seven_steps__Wo_columns},
};
static const qkv_variant variants_mha_in_seven_steps[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_mha_in_seven_steps_x86_64_v4, 4, packs_mha_in_seven_steps},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_mha_in_seven_steps_x86_64_v3, 4, packs_mha_in_seven_steps},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_mha_in_seven_steps_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_mha_in_seven_steps_opencl, 0, 0},
};
static const qkv_kernel kernel_mha_in_seven_steps = {
    QKV_ABI, "mha_in_seven_steps", UINT64_C(17431790464556539193), 8, 7, 0, 4,
    axes_mha_in_seven_steps, arguments_mha_in_seven_steps, 0, variants_mha_in_seven_steps};

int qkv_mha_in_seven_steps(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6) return qkv_call(&kernel_mha_in_seven_steps, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6};
  return qkv_call(&kernel_mha_in_seven_steps, a, 7, 0, 0);
}

const qkv_kernel *const qkv_library_multi_head_kernels[] = {&kernel_mha, &kernel_mha_in_seven_steps};

static qkv_library library = {"multi_head_kernels", qkv_library_multi_head_kernels, 2, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
