/* encoder_decoder_kernels: written by the code generator. */
#include "encoder_decoder_kernels.kernels.h"

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

static int in_order_encoder_layer(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[16]), last_position(a[17])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[16], a[17], &last[0], &last[1], a[15]};
  return code(b);
}
extern int qkv_code_encoder_layer_x86_64_v4_argv(void **);
static int enter_qkv_code_encoder_layer_x86_64_v4(void **a) { return in_order_encoder_layer(qkv_code_encoder_layer_x86_64_v4_argv, a); }
extern int qkv_code_encoder_layer_x86_64_v3_argv(void **);
static int enter_qkv_code_encoder_layer_x86_64_v3(void **a) { return in_order_encoder_layer(qkv_code_encoder_layer_x86_64_v3_argv, a); }
extern int qkv_code_encoder_layer_cuda_argv(void **);
static int enter_qkv_code_encoder_layer_cuda(void **a) { return in_order_encoder_layer(qkv_code_encoder_layer_cuda_argv, a); }
extern int qkv_code_encoder_layer_opencl_argv(void **);
static int enter_qkv_code_encoder_layer_opencl(void **a) { return in_order_encoder_layer(qkv_code_encoder_layer_opencl_argv, a); }
static const qkv_axis axes_encoder_layer[] = {
    {"batch", -1, 0},
    {"source", -1, 1},
    {"d_model", 64, 2},
    {"heads", 4, 3},
    {"d_k", 16, 4},
    {"d_v", 16, 5},
    {"d_ff", 128, 6},
    {"source_kv", -1, 1},
};
static const int32_t axes_of_encoder_layer__X[] = {0, 1, 2};
static const int32_t axes_of_encoder_layer__source_length[] = {0};
static const int32_t axes_of_encoder_layer__Wq[] = {2, 3, 4};
static const int32_t axes_of_encoder_layer__Wk[] = {2, 3, 4};
static const int32_t axes_of_encoder_layer__Wv[] = {2, 3, 5};
static const int32_t axes_of_encoder_layer__Wo[] = {3, 5, 2};
static const int32_t axes_of_encoder_layer__gamma1[] = {2};
static const int32_t axes_of_encoder_layer__beta1[] = {2};
static const int32_t axes_of_encoder_layer__W1[] = {2, 6};
static const int32_t axes_of_encoder_layer__b1[] = {6};
static const int32_t axes_of_encoder_layer__W2[] = {6, 2};
static const int32_t axes_of_encoder_layer__b2[] = {2};
static const int32_t axes_of_encoder_layer__gamma2[] = {2};
static const int32_t axes_of_encoder_layer__beta2[] = {2};
static const int32_t axes_of_encoder_layer__Y[] = {0, 1, 2};
static const qkv_argument arguments_encoder_layer[] = {
    {"X", QKV_IN, 0, 3, axes_of_encoder_layer__X},
    {"source_length", QKV_IN, 4, 1, axes_of_encoder_layer__source_length},
    {"Wq", QKV_PARAM, 0, 3, axes_of_encoder_layer__Wq},
    {"Wk", QKV_PARAM, 0, 3, axes_of_encoder_layer__Wk},
    {"Wv", QKV_PARAM, 0, 3, axes_of_encoder_layer__Wv},
    {"Wo", QKV_PARAM, 0, 3, axes_of_encoder_layer__Wo},
    {"gamma1", QKV_PARAM, 0, 1, axes_of_encoder_layer__gamma1},
    {"beta1", QKV_PARAM, 0, 1, axes_of_encoder_layer__beta1},
    {"W1", QKV_PARAM, 0, 2, axes_of_encoder_layer__W1},
    {"b1", QKV_PARAM, 0, 1, axes_of_encoder_layer__b1},
    {"W2", QKV_PARAM, 0, 2, axes_of_encoder_layer__W2},
    {"b2", QKV_PARAM, 0, 1, axes_of_encoder_layer__b2},
    {"gamma2", QKV_PARAM, 0, 1, axes_of_encoder_layer__gamma2},
    {"beta2", QKV_PARAM, 0, 1, axes_of_encoder_layer__beta2},
    {"Y", QKV_OUT, 0, 3, axes_of_encoder_layer__Y},
};
static const int32_t pack_encoder_layer__Wk_outer[] = {1};
static const int32_t pack_encoder_layer__Wk_rows[] = {0};
static const int32_t pack_encoder_layer__Wk_columns[] = {2};
static const int32_t pack_encoder_layer__Wq_outer[] = {1};
static const int32_t pack_encoder_layer__Wq_rows[] = {0};
static const int32_t pack_encoder_layer__Wq_columns[] = {2};
static const int32_t pack_encoder_layer__Wv_outer[] = {1};
static const int32_t pack_encoder_layer__Wv_rows[] = {0};
static const int32_t pack_encoder_layer__Wv_columns[] = {2};
static const int32_t pack_encoder_layer__Wo_rows[] = {0, 1};
static const int32_t pack_encoder_layer__Wo_columns[] = {2};
static const int32_t pack_encoder_layer__W1_rows[] = {0};
static const int32_t pack_encoder_layer__W1_columns[] = {1};
static const int32_t pack_encoder_layer__W2_rows[] = {0};
static const int32_t pack_encoder_layer__W2_columns[] = {1};
static const qkv_pack packs_encoder_layer[] = {
    {3, 16, 1, 1, 1, pack_encoder_layer__Wk_outer, pack_encoder_layer__Wk_rows, pack_encoder_layer__Wk_columns},
    {2, 16, 1, 1, 1, pack_encoder_layer__Wq_outer, pack_encoder_layer__Wq_rows, pack_encoder_layer__Wq_columns},
    {4, 16, 1, 1, 1, pack_encoder_layer__Wv_outer, pack_encoder_layer__Wv_rows, pack_encoder_layer__Wv_columns},
    {5, 64, 0, 2, 1, 0, pack_encoder_layer__Wo_rows, pack_encoder_layer__Wo_columns},
    {8, 64, 0, 1, 1, 0, pack_encoder_layer__W1_rows, pack_encoder_layer__W1_columns},
    {10, 64, 0, 1, 1, 0, pack_encoder_layer__W2_rows, pack_encoder_layer__W2_columns},
};
static const qkv_variant variants_encoder_layer[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_encoder_layer_x86_64_v4, 6, packs_encoder_layer},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_encoder_layer_x86_64_v3, 6, packs_encoder_layer},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_encoder_layer_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_encoder_layer_opencl, 0, 0},
};
static const qkv_kernel kernel_encoder_layer = {
    QKV_ABI, "encoder_layer", UINT64_C(2393058202804542464), 8, 15, 0, 4,
    axes_encoder_layer, arguments_encoder_layer, 0, variants_encoder_layer};

int qkv_encoder_layer(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9, const qkv_tensor *a10, const qkv_tensor *a11, const qkv_tensor *a12, const qkv_tensor *a13, const qkv_tensor *a14) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9 || !a10 || !a11 || !a12 || !a13 || !a14) return qkv_call(&kernel_encoder_layer, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9, *a10, *a11, *a12, *a13, *a14};
  return qkv_call(&kernel_encoder_layer, a, 15, 0, 0);
}

static int in_order_decoder_layer(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[23]), last_position(a[24]), last_position(a[25])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[23], a[24], a[25], &last[0], &last[1], &last[2], a[22]};
  return code(b);
}
extern int qkv_code_decoder_layer_x86_64_v4_argv(void **);
static int enter_qkv_code_decoder_layer_x86_64_v4(void **a) { return in_order_decoder_layer(qkv_code_decoder_layer_x86_64_v4_argv, a); }
extern int qkv_code_decoder_layer_x86_64_v3_argv(void **);
static int enter_qkv_code_decoder_layer_x86_64_v3(void **a) { return in_order_decoder_layer(qkv_code_decoder_layer_x86_64_v3_argv, a); }
extern int qkv_code_decoder_layer_cuda_argv(void **);
static int enter_qkv_code_decoder_layer_cuda(void **a) { return in_order_decoder_layer(qkv_code_decoder_layer_cuda_argv, a); }
extern int qkv_code_decoder_layer_opencl_argv(void **);
static int enter_qkv_code_decoder_layer_opencl(void **a) { return in_order_decoder_layer(qkv_code_decoder_layer_opencl_argv, a); }
static const qkv_axis axes_decoder_layer[] = {
    {"batch", -1, 0},
    {"target", -1, 1},
    {"d_model", 64, 2},
    {"source", -1, 3},
    {"heads", 4, 4},
    {"d_k", 16, 5},
    {"d_v", 16, 6},
    {"d_ff", 128, 7},
    {"target_kv", -1, 1},
};
static const int32_t axes_of_decoder_layer__X[] = {0, 1, 2};
static const int32_t axes_of_decoder_layer__E[] = {0, 3, 2};
static const int32_t axes_of_decoder_layer__source_length[] = {0};
static const int32_t axes_of_decoder_layer__Wq[] = {2, 4, 5};
static const int32_t axes_of_decoder_layer__Wk[] = {2, 4, 5};
static const int32_t axes_of_decoder_layer__Wv[] = {2, 4, 6};
static const int32_t axes_of_decoder_layer__Wo[] = {4, 6, 2};
static const int32_t axes_of_decoder_layer__gamma1[] = {2};
static const int32_t axes_of_decoder_layer__beta1[] = {2};
static const int32_t axes_of_decoder_layer__Cq[] = {2, 4, 5};
static const int32_t axes_of_decoder_layer__Ck[] = {2, 4, 5};
static const int32_t axes_of_decoder_layer__Cv[] = {2, 4, 6};
static const int32_t axes_of_decoder_layer__Co[] = {4, 6, 2};
static const int32_t axes_of_decoder_layer__gamma2[] = {2};
static const int32_t axes_of_decoder_layer__beta2[] = {2};
static const int32_t axes_of_decoder_layer__W1[] = {2, 7};
static const int32_t axes_of_decoder_layer__b1[] = {7};
static const int32_t axes_of_decoder_layer__W2[] = {7, 2};
static const int32_t axes_of_decoder_layer__b2[] = {2};
static const int32_t axes_of_decoder_layer__gamma3[] = {2};
static const int32_t axes_of_decoder_layer__beta3[] = {2};
static const int32_t axes_of_decoder_layer__Y[] = {0, 1, 2};
static const qkv_argument arguments_decoder_layer[] = {
    {"X", QKV_IN, 0, 3, axes_of_decoder_layer__X},
    {"E", QKV_IN, 0, 3, axes_of_decoder_layer__E},
    {"source_length", QKV_IN, 4, 1, axes_of_decoder_layer__source_length},
    {"Wq", QKV_PARAM, 0, 3, axes_of_decoder_layer__Wq},
    {"Wk", QKV_PARAM, 0, 3, axes_of_decoder_layer__Wk},
    {"Wv", QKV_PARAM, 0, 3, axes_of_decoder_layer__Wv},
    {"Wo", QKV_PARAM, 0, 3, axes_of_decoder_layer__Wo},
    {"gamma1", QKV_PARAM, 0, 1, axes_of_decoder_layer__gamma1},
    {"beta1", QKV_PARAM, 0, 1, axes_of_decoder_layer__beta1},
    {"Cq", QKV_PARAM, 0, 3, axes_of_decoder_layer__Cq},
    {"Ck", QKV_PARAM, 0, 3, axes_of_decoder_layer__Ck},
    {"Cv", QKV_PARAM, 0, 3, axes_of_decoder_layer__Cv},
    {"Co", QKV_PARAM, 0, 3, axes_of_decoder_layer__Co},
    {"gamma2", QKV_PARAM, 0, 1, axes_of_decoder_layer__gamma2},
    {"beta2", QKV_PARAM, 0, 1, axes_of_decoder_layer__beta2},
    {"W1", QKV_PARAM, 0, 2, axes_of_decoder_layer__W1},
    {"b1", QKV_PARAM, 0, 1, axes_of_decoder_layer__b1},
    {"W2", QKV_PARAM, 0, 2, axes_of_decoder_layer__W2},
    {"b2", QKV_PARAM, 0, 1, axes_of_decoder_layer__b2},
    {"gamma3", QKV_PARAM, 0, 1, axes_of_decoder_layer__gamma3},
    {"beta3", QKV_PARAM, 0, 1, axes_of_decoder_layer__beta3},
    {"Y", QKV_OUT, 0, 3, axes_of_decoder_layer__Y},
};
static const int32_t pack_decoder_layer__Wk_outer[] = {1};
static const int32_t pack_decoder_layer__Wk_rows[] = {0};
static const int32_t pack_decoder_layer__Wk_columns[] = {2};
static const int32_t pack_decoder_layer__Wq_outer[] = {1};
static const int32_t pack_decoder_layer__Wq_rows[] = {0};
static const int32_t pack_decoder_layer__Wq_columns[] = {2};
static const int32_t pack_decoder_layer__Wv_outer[] = {1};
static const int32_t pack_decoder_layer__Wv_rows[] = {0};
static const int32_t pack_decoder_layer__Wv_columns[] = {2};
static const int32_t pack_decoder_layer__Wo_rows[] = {0, 1};
static const int32_t pack_decoder_layer__Wo_columns[] = {2};
static const int32_t pack_decoder_layer__Ck_outer[] = {1};
static const int32_t pack_decoder_layer__Ck_rows[] = {0};
static const int32_t pack_decoder_layer__Ck_columns[] = {2};
static const int32_t pack_decoder_layer__Cq_outer[] = {1};
static const int32_t pack_decoder_layer__Cq_rows[] = {0};
static const int32_t pack_decoder_layer__Cq_columns[] = {2};
static const int32_t pack_decoder_layer__Cv_outer[] = {1};
static const int32_t pack_decoder_layer__Cv_rows[] = {0};
static const int32_t pack_decoder_layer__Cv_columns[] = {2};
static const int32_t pack_decoder_layer__Co_rows[] = {0, 1};
static const int32_t pack_decoder_layer__Co_columns[] = {2};
static const int32_t pack_decoder_layer__W1_rows[] = {0};
static const int32_t pack_decoder_layer__W1_columns[] = {1};
static const int32_t pack_decoder_layer__W2_rows[] = {0};
static const int32_t pack_decoder_layer__W2_columns[] = {1};
static const qkv_pack packs_decoder_layer[] = {
    {4, 16, 1, 1, 1, pack_decoder_layer__Wk_outer, pack_decoder_layer__Wk_rows, pack_decoder_layer__Wk_columns},
    {3, 16, 1, 1, 1, pack_decoder_layer__Wq_outer, pack_decoder_layer__Wq_rows, pack_decoder_layer__Wq_columns},
    {5, 16, 1, 1, 1, pack_decoder_layer__Wv_outer, pack_decoder_layer__Wv_rows, pack_decoder_layer__Wv_columns},
    {6, 64, 0, 2, 1, 0, pack_decoder_layer__Wo_rows, pack_decoder_layer__Wo_columns},
    {10, 16, 1, 1, 1, pack_decoder_layer__Ck_outer, pack_decoder_layer__Ck_rows, pack_decoder_layer__Ck_columns},
    {9, 16, 1, 1, 1, pack_decoder_layer__Cq_outer, pack_decoder_layer__Cq_rows, pack_decoder_layer__Cq_columns},
    {11, 16, 1, 1, 1, pack_decoder_layer__Cv_outer, pack_decoder_layer__Cv_rows, pack_decoder_layer__Cv_columns},
    {12, 64, 0, 2, 1, 0, pack_decoder_layer__Co_rows, pack_decoder_layer__Co_columns},
    {15, 64, 0, 1, 1, 0, pack_decoder_layer__W1_rows, pack_decoder_layer__W1_columns},
    {17, 64, 0, 1, 1, 0, pack_decoder_layer__W2_rows, pack_decoder_layer__W2_columns},
};
static const qkv_variant variants_decoder_layer[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_decoder_layer_x86_64_v4, 10, packs_decoder_layer},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_decoder_layer_x86_64_v3, 10, packs_decoder_layer},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_decoder_layer_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_decoder_layer_opencl, 0, 0},
};
static const qkv_kernel kernel_decoder_layer = {
    QKV_ABI, "decoder_layer", UINT64_C(6704419990350679260), 9, 22, 0, 4,
    axes_decoder_layer, arguments_decoder_layer, 0, variants_decoder_layer};

int qkv_decoder_layer(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9, const qkv_tensor *a10, const qkv_tensor *a11, const qkv_tensor *a12, const qkv_tensor *a13, const qkv_tensor *a14, const qkv_tensor *a15, const qkv_tensor *a16, const qkv_tensor *a17, const qkv_tensor *a18, const qkv_tensor *a19, const qkv_tensor *a20, const qkv_tensor *a21) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9 || !a10 || !a11 || !a12 || !a13 || !a14 || !a15 || !a16 || !a17 || !a18 || !a19 || !a20 || !a21) return qkv_call(&kernel_decoder_layer, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9, *a10, *a11, *a12, *a13, *a14, *a15, *a16, *a17, *a18, *a19, *a20, *a21};
  return qkv_call(&kernel_decoder_layer, a, 22, 0, 0);
}

static int in_order_keys_and_values(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[6]), last_position(a[7])};
  void *b[] = {a[0], a[1], a[2], a[3], a[6], a[7], &last[0], &last[1], a[4], a[5]};
  return code(b);
}
extern int qkv_code_keys_and_values_x86_64_v4_argv(void **);
static int enter_qkv_code_keys_and_values_x86_64_v4(void **a) { return in_order_keys_and_values(qkv_code_keys_and_values_x86_64_v4_argv, a); }
extern int qkv_code_keys_and_values_x86_64_v3_argv(void **);
static int enter_qkv_code_keys_and_values_x86_64_v3(void **a) { return in_order_keys_and_values(qkv_code_keys_and_values_x86_64_v3_argv, a); }
extern int qkv_code_keys_and_values_cuda_argv(void **);
static int enter_qkv_code_keys_and_values_cuda(void **a) { return in_order_keys_and_values(qkv_code_keys_and_values_cuda_argv, a); }
extern int qkv_code_keys_and_values_opencl_argv(void **);
static int enter_qkv_code_keys_and_values_opencl(void **a) { return in_order_keys_and_values(qkv_code_keys_and_values_opencl_argv, a); }
static const qkv_axis axes_keys_and_values[] = {
    {"batch", -1, 0},
    {"row", -1, 1},
    {"d_model", 64, 2},
    {"heads", 4, 3},
    {"d_k", 16, 4},
    {"d_v", 16, 5},
};
static const int32_t axes_of_keys_and_values__X[] = {0, 1, 2};
static const int32_t axes_of_keys_and_values__Wk[] = {2, 3, 4};
static const int32_t axes_of_keys_and_values__Wv[] = {2, 3, 5};
static const int32_t axes_of_keys_and_values__K[] = {0, 3, 1, 4};
static const int32_t axes_of_keys_and_values__V[] = {0, 3, 1, 5};
static const qkv_argument arguments_keys_and_values[] = {
    {"X", QKV_IN, 0, 3, axes_of_keys_and_values__X},
    {"Wk", QKV_PARAM, 0, 3, axes_of_keys_and_values__Wk},
    {"Wv", QKV_PARAM, 0, 3, axes_of_keys_and_values__Wv},
    {"K", QKV_OUT, 0, 4, axes_of_keys_and_values__K},
    {"V", QKV_OUT, 0, 4, axes_of_keys_and_values__V},
};
static const int32_t pack_keys_and_values__Wk_outer[] = {1};
static const int32_t pack_keys_and_values__Wk_rows[] = {0};
static const int32_t pack_keys_and_values__Wk_columns[] = {2};
static const int32_t pack_keys_and_values__Wv_outer[] = {1};
static const int32_t pack_keys_and_values__Wv_rows[] = {0};
static const int32_t pack_keys_and_values__Wv_columns[] = {2};
static const qkv_pack packs_keys_and_values[] = {
    {1, 16, 1, 1, 1, pack_keys_and_values__Wk_outer, pack_keys_and_values__Wk_rows, pack_keys_and_values__Wk_columns},
    {2, 16, 1, 1, 1, pack_keys_and_values__Wv_outer, pack_keys_and_values__Wv_rows, pack_keys_and_values__Wv_columns},
};
static const qkv_variant variants_keys_and_values[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_keys_and_values_x86_64_v4, 2, packs_keys_and_values},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_keys_and_values_x86_64_v3, 2, packs_keys_and_values},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_keys_and_values_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_keys_and_values_opencl, 0, 0},
};
static const qkv_kernel kernel_keys_and_values = {
    QKV_ABI, "keys_and_values", UINT64_C(12908470559413882427), 6, 5, 0, 4,
    axes_keys_and_values, arguments_keys_and_values, 0, variants_keys_and_values};

int qkv_keys_and_values(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4) {
  if (!a0 || !a1 || !a2 || !a3 || !a4) return qkv_call(&kernel_keys_and_values, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4};
  return qkv_call(&kernel_keys_and_values, a, 5, 0, 0);
}

static int in_order_decoder_step(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[23]), last_position(a[24]), last_position(a[25])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[23], a[24], a[25], &last[0], &last[1], &last[2], a[22]};
  return code(b);
}
extern int qkv_code_decoder_step_x86_64_v4_argv(void **);
static int enter_qkv_code_decoder_step_x86_64_v4(void **a) { return in_order_decoder_step(qkv_code_decoder_step_x86_64_v4_argv, a); }
extern int qkv_code_decoder_step_x86_64_v3_argv(void **);
static int enter_qkv_code_decoder_step_x86_64_v3(void **a) { return in_order_decoder_step(qkv_code_decoder_step_x86_64_v3_argv, a); }
extern int qkv_code_decoder_step_cuda_argv(void **);
static int enter_qkv_code_decoder_step_cuda(void **a) { return in_order_decoder_step(qkv_code_decoder_step_cuda_argv, a); }
extern int qkv_code_decoder_step_opencl_argv(void **);
static int enter_qkv_code_decoder_step_opencl(void **a) { return in_order_decoder_step(qkv_code_decoder_step_opencl_argv, a); }
static const qkv_axis axes_decoder_step[] = {
    {"batch", -1, 0},
    {"token", 1, 1},
    {"d_model", 64, 2},
    {"heads", 4, 3},
    {"slots", -1, 4},
    {"d_k", 16, 5},
    {"d_v", 16, 6},
    {"source", -1, 7},
    {"d_ff", 128, 8},
};
static const int32_t axes_of_decoder_step__X[] = {0, 1, 2};
static const int32_t axes_of_decoder_step__K[] = {0, 3, 4, 5};
static const int32_t axes_of_decoder_step__V[] = {0, 3, 4, 6};
static const int32_t axes_of_decoder_step__length[] = {0};
static const int32_t axes_of_decoder_step__source_K[] = {0, 3, 7, 5};
static const int32_t axes_of_decoder_step__source_V[] = {0, 3, 7, 6};
static const int32_t axes_of_decoder_step__source_length[] = {0};
static const int32_t axes_of_decoder_step__Wq[] = {2, 3, 5};
static const int32_t axes_of_decoder_step__Wo[] = {3, 6, 2};
static const int32_t axes_of_decoder_step__gamma1[] = {2};
static const int32_t axes_of_decoder_step__beta1[] = {2};
static const int32_t axes_of_decoder_step__Cq[] = {2, 3, 5};
static const int32_t axes_of_decoder_step__Co[] = {3, 6, 2};
static const int32_t axes_of_decoder_step__gamma2[] = {2};
static const int32_t axes_of_decoder_step__beta2[] = {2};
static const int32_t axes_of_decoder_step__W1[] = {2, 8};
static const int32_t axes_of_decoder_step__b1[] = {8};
static const int32_t axes_of_decoder_step__W2[] = {8, 2};
static const int32_t axes_of_decoder_step__b2[] = {2};
static const int32_t axes_of_decoder_step__gamma3[] = {2};
static const int32_t axes_of_decoder_step__beta3[] = {2};
static const int32_t axes_of_decoder_step__Y[] = {0, 1, 2};
static const qkv_argument arguments_decoder_step[] = {
    {"X", QKV_IN, 0, 3, axes_of_decoder_step__X},
    {"K", QKV_IN, 0, 4, axes_of_decoder_step__K},
    {"V", QKV_IN, 0, 4, axes_of_decoder_step__V},
    {"length", QKV_IN, 4, 1, axes_of_decoder_step__length},
    {"source_K", QKV_IN, 0, 4, axes_of_decoder_step__source_K},
    {"source_V", QKV_IN, 0, 4, axes_of_decoder_step__source_V},
    {"source_length", QKV_IN, 4, 1, axes_of_decoder_step__source_length},
    {"Wq", QKV_PARAM, 0, 3, axes_of_decoder_step__Wq},
    {"Wo", QKV_PARAM, 0, 3, axes_of_decoder_step__Wo},
    {"gamma1", QKV_PARAM, 0, 1, axes_of_decoder_step__gamma1},
    {"beta1", QKV_PARAM, 0, 1, axes_of_decoder_step__beta1},
    {"Cq", QKV_PARAM, 0, 3, axes_of_decoder_step__Cq},
    {"Co", QKV_PARAM, 0, 3, axes_of_decoder_step__Co},
    {"gamma2", QKV_PARAM, 0, 1, axes_of_decoder_step__gamma2},
    {"beta2", QKV_PARAM, 0, 1, axes_of_decoder_step__beta2},
    {"W1", QKV_PARAM, 0, 2, axes_of_decoder_step__W1},
    {"b1", QKV_PARAM, 0, 1, axes_of_decoder_step__b1},
    {"W2", QKV_PARAM, 0, 2, axes_of_decoder_step__W2},
    {"b2", QKV_PARAM, 0, 1, axes_of_decoder_step__b2},
    {"gamma3", QKV_PARAM, 0, 1, axes_of_decoder_step__gamma3},
    {"beta3", QKV_PARAM, 0, 1, axes_of_decoder_step__beta3},
    {"Y", QKV_OUT, 0, 3, axes_of_decoder_step__Y},
};
static const int32_t pack_decoder_step__Wq_outer[] = {1};
static const int32_t pack_decoder_step__Wq_rows[] = {0};
static const int32_t pack_decoder_step__Wq_columns[] = {2};
static const int32_t pack_decoder_step__Wo_rows[] = {0, 1};
static const int32_t pack_decoder_step__Wo_columns[] = {2};
static const int32_t pack_decoder_step__Cq_outer[] = {1};
static const int32_t pack_decoder_step__Cq_rows[] = {0};
static const int32_t pack_decoder_step__Cq_columns[] = {2};
static const int32_t pack_decoder_step__Co_rows[] = {0, 1};
static const int32_t pack_decoder_step__Co_columns[] = {2};
static const int32_t pack_decoder_step__W1_rows[] = {0};
static const int32_t pack_decoder_step__W1_columns[] = {1};
static const int32_t pack_decoder_step__W2_rows[] = {0};
static const int32_t pack_decoder_step__W2_columns[] = {1};
static const qkv_pack packs_decoder_step[] = {
    {7, 16, 1, 1, 1, pack_decoder_step__Wq_outer, pack_decoder_step__Wq_rows, pack_decoder_step__Wq_columns},
    {8, 64, 0, 2, 1, 0, pack_decoder_step__Wo_rows, pack_decoder_step__Wo_columns},
    {11, 16, 1, 1, 1, pack_decoder_step__Cq_outer, pack_decoder_step__Cq_rows, pack_decoder_step__Cq_columns},
    {12, 64, 0, 2, 1, 0, pack_decoder_step__Co_rows, pack_decoder_step__Co_columns},
    {15, 64, 0, 1, 1, 0, pack_decoder_step__W1_rows, pack_decoder_step__W1_columns},
    {17, 64, 0, 1, 1, 0, pack_decoder_step__W2_rows, pack_decoder_step__W2_columns},
};
static const qkv_variant variants_decoder_step[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_decoder_step_x86_64_v4, 6, packs_decoder_step},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_decoder_step_x86_64_v3, 6, packs_decoder_step},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_decoder_step_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_decoder_step_opencl, 0, 0},
};
static const qkv_kernel kernel_decoder_step = {
    QKV_ABI, "decoder_step", UINT64_C(5829957959020834231), 9, 22, 0, 4,
    axes_decoder_step, arguments_decoder_step, 0, variants_decoder_step};

int qkv_decoder_step(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9, const qkv_tensor *a10, const qkv_tensor *a11, const qkv_tensor *a12, const qkv_tensor *a13, const qkv_tensor *a14, const qkv_tensor *a15, const qkv_tensor *a16, const qkv_tensor *a17, const qkv_tensor *a18, const qkv_tensor *a19, const qkv_tensor *a20, const qkv_tensor *a21) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9 || !a10 || !a11 || !a12 || !a13 || !a14 || !a15 || !a16 || !a17 || !a18 || !a19 || !a20 || !a21) return qkv_call(&kernel_decoder_step, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9, *a10, *a11, *a12, *a13, *a14, *a15, *a16, *a17, *a18, *a19, *a20, *a21};
  return qkv_call(&kernel_decoder_step, a, 22, 0, 0);
}

const qkv_kernel *const qkv_library_encoder_decoder_kernels[] = {&kernel_encoder_layer, &kernel_decoder_layer, &kernel_keys_and_values, &kernel_decoder_step};

static qkv_library library = {"encoder_decoder_kernels", qkv_library_encoder_decoder_kernels, 4, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
