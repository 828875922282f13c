/* three_spaces_kernels: written by the code generator. */
#include "three_spaces_kernels.kernels.h"

static inline int32_t last_position(const void *size) {
  const int32_t n = *(const int32_t *)size;
  return n > 1 ? n - 1 : 0;
}

extern int qkv_code_cross_host_argv(void **);
static int enter_qkv_code_cross_host(void **a) {
  int32_t last[] = {last_position(a[12]), last_position(a[13]), last_position(a[14])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[12], a[13], a[14], &last[0], &last[1], &last[2], a[11]};
  return qkv_code_cross_host_argv(b);
}
extern int qkv_code_cross_cuda_argv(void **);
static int enter_qkv_code_cross_cuda(void **a) {
  int32_t last[] = {last_position(a[12]), last_position(a[13]), last_position(a[14])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[12], a[13], a[14], &last[0], &last[1], &last[2], a[11]};
  return qkv_code_cross_cuda_argv(b);
}
extern int qkv_code_cross_opencl_argv(void **);
static int enter_qkv_code_cross_opencl(void **a) {
  int32_t last[] = {last_position(a[12]), last_position(a[13]), last_position(a[14])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[12], a[13], a[14], &last[0], &last[1], &last[2], a[11]};
  return qkv_code_cross_opencl_argv(b);
}
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
    {"X", QKV_IN, 0, 3, axes_of_cross__X, -1},
    {"E", QKV_IN, 0, 3, axes_of_cross__E, -1},
    {"F", QKV_IN, 0, 3, axes_of_cross__F, -1},
    {"Wq", QKV_PARAM, 0, 3, axes_of_cross__Wq, 1},
    {"bq", QKV_PARAM, 0, 2, axes_of_cross__bq, -1},
    {"Wk", QKV_PARAM, 0, 3, axes_of_cross__Wk, 0},
    {"bk", QKV_PARAM, 0, 2, axes_of_cross__bk, -1},
    {"Wv", QKV_PARAM, 0, 3, axes_of_cross__Wv, 2},
    {"bv", QKV_PARAM, 0, 2, axes_of_cross__bv, -1},
    {"Wo", QKV_PARAM, 0, 3, axes_of_cross__Wo, 3},
    {"Y", QKV_OUT, 0, 3, axes_of_cross__Y, -1},
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
    {16, 1, 1, 1, pack_cross__Wk_outer, pack_cross__Wk_rows, pack_cross__Wk_columns},
    {16, 1, 1, 1, pack_cross__Wq_outer, pack_cross__Wq_rows, pack_cross__Wq_columns},
    {32, 1, 1, 1, pack_cross__Wv_outer, pack_cross__Wv_rows, pack_cross__Wv_columns},
    {48, 0, 2, 1, 0, pack_cross__Wo_rows, pack_cross__Wo_columns},
};
static const qkv_kernel kernel_cross = {
    QKV_ABI, "cross", UINT64_C(6171676423415667478), 10, 11, 0, 4,
    axes_cross, arguments_cross, 0, packs_cross,
    enter_qkv_code_cross_host, enter_qkv_code_cross_cuda, enter_qkv_code_cross_opencl};

int qkv_cross(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9, const qkv_tensor *a10) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9 || !a10) return qkv_call(&kernel_cross, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9, *a10};
  return qkv_call(&kernel_cross, a, 11, 0, 0);
}

const qkv_kernel *const qkv_library_three_spaces_kernels[] = {&kernel_cross};

static qkv_library library = {"three_spaces_kernels", qkv_library_three_spaces_kernels, 1, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }
