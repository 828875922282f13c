/* minilm_kernels: written by the code generator. */
#include "minilm_kernels.kernels.h"

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

static int in_order_embeddings(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[8]), last_position(a[9])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[8], a[9], &last[0], &last[1], a[7]};
  return code(b);
}
extern int qkv_code_embeddings_x86_64_v4_argv(void **);
static int enter_qkv_code_embeddings_x86_64_v4(void **a) { return in_order_embeddings(qkv_code_embeddings_x86_64_v4_argv, a); }
extern int qkv_code_embeddings_x86_64_v3_argv(void **);
static int enter_qkv_code_embeddings_x86_64_v3(void **a) { return in_order_embeddings(qkv_code_embeddings_x86_64_v3_argv, a); }
extern int qkv_code_embeddings_cuda_argv(void **);
static int enter_qkv_code_embeddings_cuda(void **a) { return in_order_embeddings(qkv_code_embeddings_cuda_argv, a); }
extern int qkv_code_embeddings_opencl_argv(void **);
static int enter_qkv_code_embeddings_opencl(void **a) { return in_order_embeddings(qkv_code_embeddings_opencl_argv, a); }
static const qkv_axis axes_embeddings[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"vocabulary", 30522, 2},
    {"d_model", 384, 3},
    {"positions", 512, 4},
};
static const int32_t axes_of_embeddings__tokens[] = {0, 1};
static const int32_t axes_of_embeddings__words[] = {2, 3};
static const int32_t axes_of_embeddings__places[] = {4, 3};
static const int32_t axes_of_embeddings__kind[] = {3};
static const int32_t axes_of_embeddings__gamma[] = {3};
static const int32_t axes_of_embeddings__beta[] = {3};
static const int32_t axes_of_embeddings__X[] = {0, 1, 3};
static const qkv_argument arguments_embeddings[] = {
    {"tokens", QKV_IN, 4, 2, axes_of_embeddings__tokens},
    {"words", QKV_PARAM, 0, 2, axes_of_embeddings__words},
    {"places", QKV_PARAM, 0, 2, axes_of_embeddings__places},
    {"kind", QKV_PARAM, 0, 1, axes_of_embeddings__kind},
    {"gamma", QKV_PARAM, 0, 1, axes_of_embeddings__gamma},
    {"beta", QKV_PARAM, 0, 1, axes_of_embeddings__beta},
    {"X", QKV_OUT, 0, 3, axes_of_embeddings__X},
};
static const qkv_variant variants_embeddings[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_embeddings_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_embeddings_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_embeddings_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_embeddings_opencl, 0, 0},
};
static const qkv_kernel kernel_embeddings = {
    QKV_ABI, "embeddings", UINT64_C(14607943957234561697), 5, 7, 0, 4,
    axes_embeddings, arguments_embeddings, 0, variants_embeddings};

int qkv_embeddings(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6) return qkv_call(&kernel_embeddings, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6};
  return qkv_call(&kernel_embeddings, a, 7, 0, 0);
}

static int in_order_layer(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[20]), last_position(a[21])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[20], a[21], &last[0], &last[1], a[19]};
  return code(b);
}
extern int qkv_code_layer_x86_64_v4_argv(void **);
static int enter_qkv_code_layer_x86_64_v4(void **a) { return in_order_layer(qkv_code_layer_x86_64_v4_argv, a); }
extern int qkv_code_layer_x86_64_v3_argv(void **);
static int enter_qkv_code_layer_x86_64_v3(void **a) { return in_order_layer(qkv_code_layer_x86_64_v3_argv, a); }
extern int qkv_code_layer_cuda_argv(void **);
static int enter_qkv_code_layer_cuda(void **a) { return in_order_layer(qkv_code_layer_cuda_argv, a); }
extern int qkv_code_layer_opencl_argv(void **);
static int enter_qkv_code_layer_opencl(void **a) { return in_order_layer(qkv_code_layer_opencl_argv, a); }
static const qkv_axis axes_layer[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"d_model", 384, 2},
    {"heads", 12, 3},
    {"d_k", 32, 4},
    {"d_ff", 1536, 5},
    {"kv", -1, 1},
};
static const int32_t axes_of_layer__X[] = {0, 1, 2};
static const int32_t axes_of_layer__length[] = {0};
static const int32_t axes_of_layer__Wq[] = {3, 4, 2};
static const int32_t axes_of_layer__bq[] = {3, 4};
static const int32_t axes_of_layer__Wk[] = {3, 4, 2};
static const int32_t axes_of_layer__bk[] = {3, 4};
static const int32_t axes_of_layer__Wv[] = {3, 4, 2};
static const int32_t axes_of_layer__bv[] = {3, 4};
static const int32_t axes_of_layer__Wo[] = {2, 3, 4};
static const int32_t axes_of_layer__bo[] = {2};
static const int32_t axes_of_layer__gamma1[] = {2};
static const int32_t axes_of_layer__beta1[] = {2};
static const int32_t axes_of_layer__W1[] = {5, 2};
static const int32_t axes_of_layer__b1[] = {5};
static const int32_t axes_of_layer__W2[] = {2, 5};
static const int32_t axes_of_layer__b2[] = {2};
static const int32_t axes_of_layer__gamma2[] = {2};
static const int32_t axes_of_layer__beta2[] = {2};
static const int32_t axes_of_layer__Y[] = {0, 1, 2};
static const qkv_argument arguments_layer[] = {
    {"X", QKV_IN, 0, 3, axes_of_layer__X},
    {"length", QKV_IN, 4, 1, axes_of_layer__length},
    {"Wq", QKV_PARAM, 0, 3, axes_of_layer__Wq},
    {"bq", QKV_PARAM, 0, 2, axes_of_layer__bq},
    {"Wk", QKV_PARAM, 0, 3, axes_of_layer__Wk},
    {"bk", QKV_PARAM, 0, 2, axes_of_layer__bk},
    {"Wv", QKV_PARAM, 0, 3, axes_of_layer__Wv},
    {"bv", QKV_PARAM, 0, 2, axes_of_layer__bv},
    {"Wo", QKV_PARAM, 0, 3, axes_of_layer__Wo},
    {"bo", QKV_PARAM, 0, 1, axes_of_layer__bo},
    {"gamma1", QKV_PARAM, 0, 1, axes_of_layer__gamma1},
    {"beta1", QKV_PARAM, 0, 1, axes_of_layer__beta1},
    {"W1", QKV_PARAM, 0, 2, axes_of_layer__W1},
    {"b1", QKV_PARAM, 0, 1, axes_of_layer__b1},
    {"W2", QKV_PARAM, 0, 2, axes_of_layer__W2},
    {"b2", QKV_PARAM, 0, 1, axes_of_layer__b2},
    {"gamma2", QKV_PARAM, 0, 1, axes_of_layer__gamma2},
    {"beta2", QKV_PARAM, 0, 1, axes_of_layer__beta2},
    {"Y", QKV_OUT, 0, 3, axes_of_layer__Y},
};
static const int32_t pack_layer__Wk_outer[] = {0};
static const int32_t pack_layer__Wk_rows[] = {2};
static const int32_t pack_layer__Wk_columns[] = {1};
static const int32_t pack_layer__Wq_outer[] = {0};
static const int32_t pack_layer__Wq_rows[] = {2};
static const int32_t pack_layer__Wq_columns[] = {1};
static const int32_t pack_layer__Wv_outer[] = {0};
static const int32_t pack_layer__Wv_rows[] = {2};
static const int32_t pack_layer__Wv_columns[] = {1};
static const int32_t pack_layer__Wo_rows[] = {1, 2};
static const int32_t pack_layer__Wo_columns[] = {0};
static const int32_t pack_layer__W1_rows[] = {1};
static const int32_t pack_layer__W1_columns[] = {0};
static const int32_t pack_layer__W2_rows[] = {1};
static const int32_t pack_layer__W2_columns[] = {0};
static const qkv_pack packs_layer[] = {
    {4, 32, 1, 1, 1, pack_layer__Wk_outer, pack_layer__Wk_rows, pack_layer__Wk_columns},
    {2, 32, 1, 1, 1, pack_layer__Wq_outer, pack_layer__Wq_rows, pack_layer__Wq_columns},
    {6, 32, 1, 1, 1, pack_layer__Wv_outer, pack_layer__Wv_rows, pack_layer__Wv_columns},
    {8, 64, 0, 2, 1, 0, pack_layer__Wo_rows, pack_layer__Wo_columns},
    {12, 64, 0, 1, 1, 0, pack_layer__W1_rows, pack_layer__W1_columns},
    {14, 64, 0, 1, 1, 0, pack_layer__W2_rows, pack_layer__W2_columns},
};
static const qkv_variant variants_layer[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_layer_x86_64_v4, 6, packs_layer},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_layer_x86_64_v3, 6, packs_layer},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_layer_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_layer_opencl, 0, 0},
};
static const qkv_kernel kernel_layer = {
    QKV_ABI, "layer", UINT64_C(8522129514979008275), 7, 19, 0, 4,
    axes_layer, arguments_layer, 0, variants_layer};

int qkv_layer(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9, const qkv_tensor *a10, const qkv_tensor *a11, const qkv_tensor *a12, const qkv_tensor *a13, const qkv_tensor *a14, const qkv_tensor *a15, const qkv_tensor *a16, const qkv_tensor *a17, const qkv_tensor *a18) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9 || !a10 || !a11 || !a12 || !a13 || !a14 || !a15 || !a16 || !a17 || !a18) return qkv_call(&kernel_layer, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9, *a10, *a11, *a12, *a13, *a14, *a15, *a16, *a17, *a18};
  return qkv_call(&kernel_layer, a, 19, 0, 0);
}

static int in_order_pooling(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[4]), last_position(a[5])};
  void *b[] = {a[0], a[1], a[2], a[4], a[5], &last[0], &last[1], a[3]};
  return code(b);
}
extern int qkv_code_pooling_x86_64_v4_argv(void **);
static int enter_qkv_code_pooling_x86_64_v4(void **a) { return in_order_pooling(qkv_code_pooling_x86_64_v4_argv, a); }
extern int qkv_code_pooling_x86_64_v3_argv(void **);
static int enter_qkv_code_pooling_x86_64_v3(void **a) { return in_order_pooling(qkv_code_pooling_x86_64_v3_argv, a); }
extern int qkv_code_pooling_cuda_argv(void **);
static int enter_qkv_code_pooling_cuda(void **a) { return in_order_pooling(qkv_code_pooling_cuda_argv, a); }
extern int qkv_code_pooling_opencl_argv(void **);
static int enter_qkv_code_pooling_opencl(void **a) { return in_order_pooling(qkv_code_pooling_opencl_argv, a); }
static const qkv_axis axes_pooling[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"d_model", 384, 2},
};
static const int32_t axes_of_pooling__X[] = {0, 1, 2};
static const int32_t axes_of_pooling__length[] = {0};
static const int32_t axes_of_pooling__sentence[] = {0, 2};
static const qkv_argument arguments_pooling[] = {
    {"X", QKV_IN, 0, 3, axes_of_pooling__X},
    {"length", QKV_IN, 4, 1, axes_of_pooling__length},
    {"sentence", QKV_OUT, 0, 2, axes_of_pooling__sentence},
};
static const qkv_variant variants_pooling[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_pooling_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_pooling_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_pooling_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_pooling_opencl, 0, 0},
};
static const qkv_kernel kernel_pooling = {
    QKV_ABI, "pooling", UINT64_C(9217969248262899080), 3, 3, 0, 4,
    axes_pooling, arguments_pooling, 0, variants_pooling};

int qkv_pooling(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2) {
  if (!a0 || !a1 || !a2) return qkv_call(&kernel_pooling, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2};
  return qkv_call(&kernel_pooling, a, 3, 0, 0);
}

static int in_order_attention_weights(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[8]), last_position(a[9])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[8], a[9], &last[0], &last[1], a[7]};
  return code(b);
}
extern int qkv_code_attention_weights_x86_64_v4_argv(void **);
static int enter_qkv_code_attention_weights_x86_64_v4(void **a) { return in_order_attention_weights(qkv_code_attention_weights_x86_64_v4_argv, a); }
extern int qkv_code_attention_weights_x86_64_v3_argv(void **);
static int enter_qkv_code_attention_weights_x86_64_v3(void **a) { return in_order_attention_weights(qkv_code_attention_weights_x86_64_v3_argv, a); }
extern int qkv_code_attention_weights_cuda_argv(void **);
static int enter_qkv_code_attention_weights_cuda(void **a) { return in_order_attention_weights(qkv_code_attention_weights_cuda_argv, a); }
extern int qkv_code_attention_weights_opencl_argv(void **);
static int enter_qkv_code_attention_weights_opencl(void **a) { return in_order_attention_weights(qkv_code_attention_weights_opencl_argv, a); }
static const qkv_axis axes_attention_weights[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"d_model", 384, 2},
    {"heads", 12, 3},
    {"d_k", 32, 4},
    {"kv", -1, 1},
};
static const int32_t axes_of_attention_weights__X[] = {0, 1, 2};
static const int32_t axes_of_attention_weights__length[] = {0};
static const int32_t axes_of_attention_weights__Wq[] = {3, 4, 2};
static const int32_t axes_of_attention_weights__bq[] = {3, 4};
static const int32_t axes_of_attention_weights__Wk[] = {3, 4, 2};
static const int32_t axes_of_attention_weights__bk[] = {3, 4};
static const int32_t axes_of_attention_weights__W[] = {0, 3, 1, 5};
static const qkv_argument arguments_attention_weights[] = {
    {"X", QKV_IN, 0, 3, axes_of_attention_weights__X},
    {"length", QKV_IN, 4, 1, axes_of_attention_weights__length},
    {"Wq", QKV_PARAM, 0, 3, axes_of_attention_weights__Wq},
    {"bq", QKV_PARAM, 0, 2, axes_of_attention_weights__bq},
    {"Wk", QKV_PARAM, 0, 3, axes_of_attention_weights__Wk},
    {"bk", QKV_PARAM, 0, 2, axes_of_attention_weights__bk},
    {"W", QKV_OUT, 0, 4, axes_of_attention_weights__W},
};
static const int32_t pack_attention_weights__Wk_outer[] = {0};
static const int32_t pack_attention_weights__Wk_rows[] = {2};
static const int32_t pack_attention_weights__Wk_columns[] = {1};
static const int32_t pack_attention_weights__Wq_outer[] = {0};
static const int32_t pack_attention_weights__Wq_rows[] = {2};
static const int32_t pack_attention_weights__Wq_columns[] = {1};
static const qkv_pack packs_attention_weights[] = {
    {4, 32, 1, 1, 1, pack_attention_weights__Wk_outer, pack_attention_weights__Wk_rows, pack_attention_weights__Wk_columns},
    {2, 32, 1, 1, 1, pack_attention_weights__Wq_outer, pack_attention_weights__Wq_rows, pack_attention_weights__Wq_columns},
};
static const qkv_variant variants_attention_weights[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_attention_weights_x86_64_v4, 2, packs_attention_weights},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_attention_weights_x86_64_v3, 2, packs_attention_weights},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_attention_weights_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_attention_weights_opencl, 0, 0},
};
static const qkv_kernel kernel_attention_weights = {
    QKV_ABI, "attention_weights", UINT64_C(2815390899181393357), 6, 7, 0, 4,
    axes_attention_weights, arguments_attention_weights, 0, variants_attention_weights};

int qkv_attention_weights(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6) return qkv_call(&kernel_attention_weights, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6};
  return qkv_call(&kernel_attention_weights, a, 7, 0, 0);
}

const qkv_kernel *const qkv_library_minilm_kernels[] = {&kernel_embeddings, &kernel_layer, &kernel_pooling, &kernel_attention_weights};

static qkv_library library = {"minilm_kernels", qkv_library_minilm_kernels, 4, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
