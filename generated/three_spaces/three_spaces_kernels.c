/* three_spaces_kernels: written by the code generator. */
#include "three_spaces_kernels.kernels.h"

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

static int in_order_cross(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[12]), last_position(a[13]), last_position(a[14])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[12], a[13], a[14], &last[0], &last[1], &last[2], a[11]};
  return code(b);
}
extern int qkv_code_cross_x86_64_v4_argv(void **);
static int enter_qkv_code_cross_x86_64_v4(void **a) { return in_order_cross(qkv_code_cross_x86_64_v4_argv, a); }
extern int qkv_code_cross_x86_64_v3_argv(void **);
static int enter_qkv_code_cross_x86_64_v3(void **a) { return in_order_cross(qkv_code_cross_x86_64_v3_argv, a); }
extern int qkv_code_cross_cuda_argv(void **);
static int enter_qkv_code_cross_cuda(void **a) { return in_order_cross(qkv_code_cross_cuda_argv, a); }
extern int qkv_code_cross_opencl_argv(void **);
static int enter_qkv_code_cross_opencl(void **a) { return in_order_cross(qkv_code_cross_opencl_argv, a); }
static const qkv_axis axes_cross[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"d_query", 48, 2},
    {"mem", -1, 3},
    {"d_key", 40, 4},
    {"d_value", 56, 5},
    {"heads", 4, 6},
    {"d_k", 16, 7},
    {"d_v", 24, 8},
    {"d_out", 80, 9},
};
static const int32_t axes_of_cross__X[] = {0, 1, 2};
static const int32_t axes_of_cross__E[] = {0, 3, 4};
static const int32_t axes_of_cross__F[] = {0, 3, 5};
static const int32_t axes_of_cross__Wq[] = {2, 6, 7};
static const int32_t axes_of_cross__bq[] = {6, 7};
static const int32_t axes_of_cross__Wk[] = {4, 6, 7};
static const int32_t axes_of_cross__bk[] = {6, 7};
static const int32_t axes_of_cross__Wv[] = {5, 6, 8};
static const int32_t axes_of_cross__bv[] = {6, 8};
static const int32_t axes_of_cross__Wo[] = {6, 8, 9};
static const int32_t axes_of_cross__Y[] = {0, 1, 9};
static const qkv_argument arguments_cross[] = {
    {"X", QKV_IN, 0, 3, axes_of_cross__X},
    {"E", QKV_IN, 0, 3, axes_of_cross__E},
    {"F", QKV_IN, 0, 3, axes_of_cross__F},
    {"Wq", QKV_PARAM, 0, 3, axes_of_cross__Wq},
    {"bq", QKV_PARAM, 0, 2, axes_of_cross__bq},
    {"Wk", QKV_PARAM, 0, 3, axes_of_cross__Wk},
    {"bk", QKV_PARAM, 0, 2, axes_of_cross__bk},
    {"Wv", QKV_PARAM, 0, 3, axes_of_cross__Wv},
    {"bv", QKV_PARAM, 0, 2, axes_of_cross__bv},
    {"Wo", QKV_PARAM, 0, 3, axes_of_cross__Wo},
    {"Y", QKV_OUT, 0, 3, axes_of_cross__Y},
};
static const int32_t pack_cross__Wk_outer[] = {1};
static const int32_t pack_cross__Wk_rows[] = {0};
static const int32_t pack_cross__Wk_columns[] = {2};
static const int32_t pack_cross__Wq_outer[] = {1};
static const int32_t pack_cross__Wq_rows[] = {0};
static const int32_t pack_cross__Wq_columns[] = {2};
static const int32_t pack_cross__Wv_outer[] = {1};
static const int32_t pack_cross__Wv_rows[] = {0};
static const int32_t pack_cross__Wv_columns[] = {2};
static const int32_t pack_cross__Wo_rows[] = {0, 1};
static const int32_t pack_cross__Wo_columns[] = {2};
static const qkv_pack packs_cross[] = {
    {5, 16, 1, 1, 1, pack_cross__Wk_outer, pack_cross__Wk_rows, pack_cross__Wk_columns},
    {3, 16, 1, 1, 1, pack_cross__Wq_outer, pack_cross__Wq_rows, pack_cross__Wq_columns},
    {7, 32, 1, 1, 1, pack_cross__Wv_outer, pack_cross__Wv_rows, pack_cross__Wv_columns},
    {9, 48, 0, 2, 1, 0, pack_cross__Wo_rows, pack_cross__Wo_columns},
};
static const qkv_variant variants_cross[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_cross_x86_64_v4, 4, packs_cross},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_cross_x86_64_v3, 4, packs_cross},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_cross_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_cross_opencl, 0, 0},
};
static const qkv_kernel kernel_cross = {
    QKV_ABI, "cross", UINT64_C(6171676423415667478), 10, 11, 0, 4,
    axes_cross, arguments_cross, 0, variants_cross};

int qkv_cross(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9, const qkv_tensor *a10) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9 || !a10) return qkv_call(&kernel_cross, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9, *a10};
  return qkv_call(&kernel_cross, a, 11, 0, 0);
}

const qkv_kernel *const qkv_library_three_spaces_kernels[] = {&kernel_cross};

static qkv_library library = {"three_spaces_kernels", qkv_library_three_spaces_kernels, 1, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
