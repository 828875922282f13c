/* minilm_kernels: written by the code generator. */
#include "minilm_kernels.kernels.h"

static inline int32_t last_position(const void *size) {
  const int32_t n = *(const int32_t *)size;
  return n > 1 ? n - 1 : 0;
}

extern int qkv_code_embedding_norm_host_argv(void **);
static int enter_qkv_code_embedding_norm_host(void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return qkv_code_embedding_norm_host_argv(b);
}
extern int qkv_code_embedding_norm_cuda_argv(void **);
static int enter_qkv_code_embedding_norm_cuda(void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return qkv_code_embedding_norm_cuda_argv(b);
}
extern int qkv_code_embedding_norm_opencl_argv(void **);
static int enter_qkv_code_embedding_norm_opencl(void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return qkv_code_embedding_norm_opencl_argv(b);
}
static const qkv_axis axes_embedding_norm[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"d_model", 384, 2},
};
static const int32_t axes_of_embedding_norm_E[] = {0, 1, 2};
static const int32_t axes_of_embedding_norm_gamma[] = {2};
static const int32_t axes_of_embedding_norm_beta[] = {2};
static const int32_t axes_of_embedding_norm_X[] = {0, 1, 2};
static const qkv_argument arguments_embedding_norm[] = {
    {"E", QKV_IN, 0, 3, axes_of_embedding_norm_E, -1},
    {"gamma", QKV_PARAM, 0, 1, axes_of_embedding_norm_gamma, -1},
    {"beta", QKV_PARAM, 0, 1, axes_of_embedding_norm_beta, -1},
    {"X", QKV_OUT, 0, 3, axes_of_embedding_norm_X, -1},
};
static const qkv_kernel kernel_embedding_norm = {
    QKV_ABI, "embedding_norm", UINT64_C(4672584096154184828), 3, 4, 0, 0,
    axes_embedding_norm, arguments_embedding_norm, 0, 0,
    enter_qkv_code_embedding_norm_host, enter_qkv_code_embedding_norm_cuda, enter_qkv_code_embedding_norm_opencl};

int qkv_embedding_norm(const qkv_tensor *E, const qkv_tensor *gamma, const qkv_tensor *beta, const qkv_tensor *X) {
  if (!E || !gamma || !beta || !X) return qkv_call(&kernel_embedding_norm, 0, 0, 0, 0);
  const qkv_tensor all[] = {*E, *gamma, *beta, *X};
  return qkv_call(&kernel_embedding_norm, all, 4, 0, 0);
}

extern int qkv_code_attention_block_host_argv(void **);
static int enter_qkv_code_attention_block_host(void **a) {
  int32_t last[] = {last_position(a[14]), last_position(a[15])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[14], a[15], &last[0], &last[1], a[13]};
  return qkv_code_attention_block_host_argv(b);
}
extern int qkv_code_attention_block_cuda_argv(void **);
static int enter_qkv_code_attention_block_cuda(void **a) {
  int32_t last[] = {last_position(a[14]), last_position(a[15])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[14], a[15], &last[0], &last[1], a[13]};
  return qkv_code_attention_block_cuda_argv(b);
}
extern int qkv_code_attention_block_opencl_argv(void **);
static int enter_qkv_code_attention_block_opencl(void **a) {
  int32_t last[] = {last_position(a[14]), last_position(a[15])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[14], a[15], &last[0], &last[1], a[13]};
  return qkv_code_attention_block_opencl_argv(b);
}
static const qkv_axis axes_attention_block[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"d_model", 384, 2},
    {"heads", 12, 3},
    {"d_k", 32, 4},
    {"kv", -1, 1},
};
static const int32_t axes_of_attention_block_X[] = {0, 1, 2};
static const int32_t axes_of_attention_block_length[] = {0};
static const int32_t axes_of_attention_block_Wq[] = {3, 4, 2};
static const int32_t axes_of_attention_block_bq[] = {3, 4};
static const int32_t axes_of_attention_block_Wk[] = {3, 4, 2};
static const int32_t axes_of_attention_block_bk[] = {3, 4};
static const int32_t axes_of_attention_block_Wv[] = {3, 4, 2};
static const int32_t axes_of_attention_block_bv[] = {3, 4};
static const int32_t axes_of_attention_block_Wo[] = {2, 3, 4};
static const int32_t axes_of_attention_block_bo[] = {2};
static const int32_t axes_of_attention_block_gamma[] = {2};
static const int32_t axes_of_attention_block_beta[] = {2};
static const int32_t axes_of_attention_block_Y[] = {0, 1, 2};
static const qkv_argument arguments_attention_block[] = {
    {"X", QKV_IN, 0, 3, axes_of_attention_block_X, -1},
    {"length", QKV_IN, 4, 1, axes_of_attention_block_length, -1},
    {"Wq", QKV_PARAM, 0, 3, axes_of_attention_block_Wq, 1},
    {"bq", QKV_PARAM, 0, 2, axes_of_attention_block_bq, -1},
    {"Wk", QKV_PARAM, 0, 3, axes_of_attention_block_Wk, 0},
    {"bk", QKV_PARAM, 0, 2, axes_of_attention_block_bk, -1},
    {"Wv", QKV_PARAM, 0, 3, axes_of_attention_block_Wv, 2},
    {"bv", QKV_PARAM, 0, 2, axes_of_attention_block_bv, -1},
    {"Wo", QKV_PARAM, 0, 3, axes_of_attention_block_Wo, 3},
    {"bo", QKV_PARAM, 0, 1, axes_of_attention_block_bo, -1},
    {"gamma", QKV_PARAM, 0, 1, axes_of_attention_block_gamma, -1},
    {"beta", QKV_PARAM, 0, 1, axes_of_attention_block_beta, -1},
    {"Y", QKV_OUT, 0, 3, axes_of_attention_block_Y, -1},
};
static const int32_t pack_attention_block_Wk_outer[] = {0};
static const int32_t pack_attention_block_Wk_rows[] = {2};
static const int32_t pack_attention_block_Wk_columns[] = {1};
static const int32_t pack_attention_block_Wq_outer[] = {0};
static const int32_t pack_attention_block_Wq_rows[] = {2};
static const int32_t pack_attention_block_Wq_columns[] = {1};
static const int32_t pack_attention_block_Wv_outer[] = {0};
static const int32_t pack_attention_block_Wv_rows[] = {2};
static const int32_t pack_attention_block_Wv_columns[] = {1};
static const int32_t pack_attention_block_Wo_rows[] = {1, 2};
static const int32_t pack_attention_block_Wo_columns[] = {0};
static const qkv_pack packs_attention_block[] = {
    {32, 1, 1, 1, pack_attention_block_Wk_outer, pack_attention_block_Wk_rows, pack_attention_block_Wk_columns},
    {32, 1, 1, 1, pack_attention_block_Wq_outer, pack_attention_block_Wq_rows, pack_attention_block_Wq_columns},
    {32, 1, 1, 1, pack_attention_block_Wv_outer, pack_attention_block_Wv_rows, pack_attention_block_Wv_columns},
    {64, 0, 2, 1, 0, pack_attention_block_Wo_rows, pack_attention_block_Wo_columns},
};
static const qkv_kernel kernel_attention_block = {
    QKV_ABI, "attention_block", UINT64_C(17862580562752329018), 6, 13, 0, 4,
    axes_attention_block, arguments_attention_block, 0, packs_attention_block,
    enter_qkv_code_attention_block_host, enter_qkv_code_attention_block_cuda, enter_qkv_code_attention_block_opencl};

int qkv_attention_block(const qkv_tensor *X, const qkv_tensor *length, const qkv_tensor *Wq, const qkv_tensor *bq, const qkv_tensor *Wk, const qkv_tensor *bk, const qkv_tensor *Wv, const qkv_tensor *bv, const qkv_tensor *Wo, const qkv_tensor *bo, const qkv_tensor *gamma, const qkv_tensor *beta, const qkv_tensor *Y) {
  if (!X || !length || !Wq || !bq || !Wk || !bk || !Wv || !bv || !Wo || !bo || !gamma || !beta || !Y) return qkv_call(&kernel_attention_block, 0, 0, 0, 0);
  const qkv_tensor all[] = {*X, *length, *Wq, *bq, *Wk, *bk, *Wv, *bv, *Wo, *bo, *gamma, *beta, *Y};
  return qkv_call(&kernel_attention_block, all, 13, 0, 0);
}

extern int qkv_code_attention_weights_host_argv(void **);
static int enter_qkv_code_attention_weights_host(void **a) {
  int32_t last[] = {last_position(a[8]), last_position(a[9])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[8], a[9], &last[0], &last[1], a[7]};
  return qkv_code_attention_weights_host_argv(b);
}
extern int qkv_code_attention_weights_cuda_argv(void **);
static int enter_qkv_code_attention_weights_cuda(void **a) {
  int32_t last[] = {last_position(a[8]), last_position(a[9])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[8], a[9], &last[0], &last[1], a[7]};
  return qkv_code_attention_weights_cuda_argv(b);
}
extern int qkv_code_attention_weights_opencl_argv(void **);
static int enter_qkv_code_attention_weights_opencl(void **a) {
  int32_t last[] = {last_position(a[8]), last_position(a[9])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[8], a[9], &last[0], &last[1], a[7]};
  return qkv_code_attention_weights_opencl_argv(b);
}
static const qkv_axis axes_attention_weights[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"d_model", 384, 2},
    {"heads", 12, 3},
    {"d_k", 32, 4},
    {"kv", -1, 1},
};
static const int32_t axes_of_attention_weights_X[] = {0, 1, 2};
static const int32_t axes_of_attention_weights_length[] = {0};
static const int32_t axes_of_attention_weights_Wq[] = {3, 4, 2};
static const int32_t axes_of_attention_weights_bq[] = {3, 4};
static const int32_t axes_of_attention_weights_Wk[] = {3, 4, 2};
static const int32_t axes_of_attention_weights_bk[] = {3, 4};
static const int32_t axes_of_attention_weights_W[] = {0, 3, 1, 5};
static const qkv_argument arguments_attention_weights[] = {
    {"X", QKV_IN, 0, 3, axes_of_attention_weights_X, -1},
    {"length", QKV_IN, 4, 1, axes_of_attention_weights_length, -1},
    {"Wq", QKV_PARAM, 0, 3, axes_of_attention_weights_Wq, 1},
    {"bq", QKV_PARAM, 0, 2, axes_of_attention_weights_bq, -1},
    {"Wk", QKV_PARAM, 0, 3, axes_of_attention_weights_Wk, 0},
    {"bk", QKV_PARAM, 0, 2, axes_of_attention_weights_bk, -1},
    {"W", QKV_OUT, 0, 4, axes_of_attention_weights_W, -1},
};
static const int32_t pack_attention_weights_Wk_outer[] = {0};
static const int32_t pack_attention_weights_Wk_rows[] = {2};
static const int32_t pack_attention_weights_Wk_columns[] = {1};
static const int32_t pack_attention_weights_Wq_outer[] = {0};
static const int32_t pack_attention_weights_Wq_rows[] = {2};
static const int32_t pack_attention_weights_Wq_columns[] = {1};
static const qkv_pack packs_attention_weights[] = {
    {32, 1, 1, 1, pack_attention_weights_Wk_outer, pack_attention_weights_Wk_rows, pack_attention_weights_Wk_columns},
    {32, 1, 1, 1, pack_attention_weights_Wq_outer, pack_attention_weights_Wq_rows, pack_attention_weights_Wq_columns},
};
static const qkv_kernel kernel_attention_weights = {
    QKV_ABI, "attention_weights", UINT64_C(2815390899181393357), 6, 7, 0, 2,
    axes_attention_weights, arguments_attention_weights, 0, packs_attention_weights,
    enter_qkv_code_attention_weights_host, enter_qkv_code_attention_weights_cuda, enter_qkv_code_attention_weights_opencl};

int qkv_attention_weights(const qkv_tensor *X, const qkv_tensor *length, const qkv_tensor *Wq, const qkv_tensor *bq, const qkv_tensor *Wk, const qkv_tensor *bk, const qkv_tensor *W) {
  if (!X || !length || !Wq || !bq || !Wk || !bk || !W) return qkv_call(&kernel_attention_weights, 0, 0, 0, 0);
  const qkv_tensor all[] = {*X, *length, *Wq, *bq, *Wk, *bk, *W};
  return qkv_call(&kernel_attention_weights, all, 7, 0, 0);
}

const qkv_kernel *const qkv_library_minilm_kernels[] = {&kernel_embedding_norm, &kernel_attention_block, &kernel_attention_weights};

__attribute__((constructor)) static void register_minilm_kernels(void) { qkv_register(qkv_library_minilm_kernels, 3); }
