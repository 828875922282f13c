/* train_kernels: written by the code generator. */
#include "train_kernels.kernels.h"

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

static int in_order_model(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[15]), last_position(a[16])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[15], a[16], &last[0], &last[1], a[14]};
  return code(b);
}
extern int qkv_code_model_x86_64_v4_argv(void **);
static int enter_qkv_code_model_x86_64_v4(void **a) { return in_order_model(qkv_code_model_x86_64_v4_argv, a); }
extern int qkv_code_model_x86_64_v3_argv(void **);
static int enter_qkv_code_model_x86_64_v3(void **a) { return in_order_model(qkv_code_model_x86_64_v3_argv, a); }
static const qkv_axis axes_model[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"vocabulary", 64, 2},
    {"d_model", 64, 3},
    {"positions", 128, 4},
    {"blocks", 2, 5},
    {"heads", 4, 6},
    {"d_k", 16, 7},
    {"d_ff", 256, 8},
    {"kv", -1, 1},
};
static const int32_t axes_of_model__tokens[] = {0, 1};
static const int32_t axes_of_model__words[] = {2, 3};
static const int32_t axes_of_model__places[] = {4, 3};
static const int32_t axes_of_model__gain[] = {3};
static const int32_t axes_of_model__W[] = {3, 2};
static const int32_t axes_of_model__Wq[] = {5, 3, 6, 7};
static const int32_t axes_of_model__Wk[] = {5, 3, 6, 7};
static const int32_t axes_of_model__Wv[] = {5, 3, 6, 7};
static const int32_t axes_of_model__Wo[] = {5, 6, 7, 3};
static const int32_t axes_of_model__W1[] = {5, 3, 8};
static const int32_t axes_of_model__W2[] = {5, 8, 3};
static const int32_t axes_of_model__gain1[] = {5, 3};
static const int32_t axes_of_model__gain2[] = {5, 3};
static const int32_t axes_of_model__logits[] = {0, 1, 2};
static const qkv_argument arguments_model[] = {
    {"tokens", QKV_IN, 4, 2, axes_of_model__tokens},
    {"words", QKV_PARAM, 0, 2, axes_of_model__words},
    {"places", QKV_PARAM, 0, 2, axes_of_model__places},
    {"gain", QKV_PARAM, 0, 1, axes_of_model__gain},
    {"W", QKV_PARAM, 0, 2, axes_of_model__W},
    {"Wq", QKV_PARAM, 0, 4, axes_of_model__Wq},
    {"Wk", QKV_PARAM, 0, 4, axes_of_model__Wk},
    {"Wv", QKV_PARAM, 0, 4, axes_of_model__Wv},
    {"Wo", QKV_PARAM, 0, 4, axes_of_model__Wo},
    {"W1", QKV_PARAM, 0, 3, axes_of_model__W1},
    {"W2", QKV_PARAM, 0, 3, axes_of_model__W2},
    {"gain1", QKV_PARAM, 0, 2, axes_of_model__gain1},
    {"gain2", QKV_PARAM, 0, 2, axes_of_model__gain2},
    {"logits", QKV_OUT, 0, 3, axes_of_model__logits},
};
static const int32_t pack_model__W_rows[] = {0};
static const int32_t pack_model__W_columns[] = {1};
static const qkv_pack packs_model[] = {
    {4, 64, 0, 1, 1, 0, pack_model__W_rows, pack_model__W_columns},
};
static const qkv_variant variants_model[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_model_x86_64_v4, 1, packs_model},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_model_x86_64_v3, 1, packs_model},
};
static const qkv_kernel kernel_model = {
    QKV_ABI, "model", UINT64_C(1846131343516493625), 10, 14, 0, 2,
    axes_model, arguments_model, 0, variants_model};

int qkv_model(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9, const qkv_tensor *a10, const qkv_tensor *a11, const qkv_tensor *a12, const qkv_tensor *a13) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9 || !a10 || !a11 || !a12 || !a13) return qkv_call(&kernel_model, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9, *a10, *a11, *a12, *a13};
  return qkv_call(&kernel_model, a, 14, 0, 0);
}

static int in_order_loss(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[16]), last_position(a[17])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[16], a[17], &last[0], &last[1], a[15]};
  return code(b);
}
extern int qkv_code_loss_x86_64_v4_argv(void **);
static int enter_qkv_code_loss_x86_64_v4(void **a) { return in_order_loss(qkv_code_loss_x86_64_v4_argv, a); }
extern int qkv_code_loss_x86_64_v3_argv(void **);
static int enter_qkv_code_loss_x86_64_v3(void **a) { return in_order_loss(qkv_code_loss_x86_64_v3_argv, a); }
static const qkv_axis axes_loss[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"vocabulary", 64, 2},
    {"d_model", 64, 3},
    {"positions", 128, 4},
    {"blocks", 2, 5},
    {"heads", 4, 6},
    {"d_k", 16, 7},
    {"d_ff", 256, 8},
    {"kv", -1, 1},
};
static const int32_t axes_of_loss__tokens[] = {0, 1};
static const int32_t axes_of_loss__next[] = {0, 1};
static const int32_t axes_of_loss__words[] = {2, 3};
static const int32_t axes_of_loss__places[] = {4, 3};
static const int32_t axes_of_loss__gain[] = {3};
static const int32_t axes_of_loss__W[] = {3, 2};
static const int32_t axes_of_loss__Wq[] = {5, 3, 6, 7};
static const int32_t axes_of_loss__Wk[] = {5, 3, 6, 7};
static const int32_t axes_of_loss__Wv[] = {5, 3, 6, 7};
static const int32_t axes_of_loss__Wo[] = {5, 6, 7, 3};
static const int32_t axes_of_loss__W1[] = {5, 3, 8};
static const int32_t axes_of_loss__W2[] = {5, 8, 3};
static const int32_t axes_of_loss__gain1[] = {5, 3};
static const int32_t axes_of_loss__gain2[] = {5, 3};
static const qkv_argument arguments_loss[] = {
    {"tokens", QKV_IN, 4, 2, axes_of_loss__tokens},
    {"next", QKV_IN, 4, 2, axes_of_loss__next},
    {"words", QKV_PARAM, 0, 2, axes_of_loss__words},
    {"places", QKV_PARAM, 0, 2, axes_of_loss__places},
    {"gain", QKV_PARAM, 0, 1, axes_of_loss__gain},
    {"W", QKV_PARAM, 0, 2, axes_of_loss__W},
    {"Wq", QKV_PARAM, 0, 4, axes_of_loss__Wq},
    {"Wk", QKV_PARAM, 0, 4, axes_of_loss__Wk},
    {"Wv", QKV_PARAM, 0, 4, axes_of_loss__Wv},
    {"Wo", QKV_PARAM, 0, 4, axes_of_loss__Wo},
    {"W1", QKV_PARAM, 0, 3, axes_of_loss__W1},
    {"W2", QKV_PARAM, 0, 3, axes_of_loss__W2},
    {"gain1", QKV_PARAM, 0, 2, axes_of_loss__gain1},
    {"gain2", QKV_PARAM, 0, 2, axes_of_loss__gain2},
    {"loss", QKV_OUT, 0, 0, 0},
};
static const int32_t pack_loss__W_rows[] = {0};
static const int32_t pack_loss__W_columns[] = {1};
static const qkv_pack packs_loss[] = {
    {5, 64, 0, 1, 1, 0, pack_loss__W_rows, pack_loss__W_columns},
};
static const qkv_variant variants_loss[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_loss_x86_64_v4, 1, packs_loss},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_loss_x86_64_v3, 1, packs_loss},
};
static const qkv_kernel kernel_loss = {
    QKV_ABI, "loss", UINT64_C(14803961059811753726), 10, 15, 0, 2,
    axes_loss, arguments_loss, 0, variants_loss};

int qkv_loss(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9, const qkv_tensor *a10, const qkv_tensor *a11, const qkv_tensor *a12, const qkv_tensor *a13, const qkv_tensor *a14) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9 || !a10 || !a11 || !a12 || !a13 || !a14) return qkv_call(&kernel_loss, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9, *a10, *a11, *a12, *a13, *a14};
  return qkv_call(&kernel_loss, a, 15, 0, 0);
}

static int in_order_loss_gradient(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[28]), last_position(a[29])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[28], a[29], &last[0], &last[1], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23], a[24], a[25], a[26], a[27]};
  return code(b);
}
extern int qkv_code_loss_gradient_x86_64_v4_argv(void **);
static int enter_qkv_code_loss_gradient_x86_64_v4(void **a) { return in_order_loss_gradient(qkv_code_loss_gradient_x86_64_v4_argv, a); }
extern int qkv_code_loss_gradient_x86_64_v3_argv(void **);
static int enter_qkv_code_loss_gradient_x86_64_v3(void **a) { return in_order_loss_gradient(qkv_code_loss_gradient_x86_64_v3_argv, a); }
static const qkv_axis axes_loss_gradient[] = {
    {"batch", -1, 0},
    {"seq", -1, 1},
    {"vocabulary", 64, 2},
    {"d_model", 64, 3},
    {"positions", 128, 4},
    {"blocks", 2, 5},
    {"heads", 4, 6},
    {"d_k", 16, 7},
    {"d_ff", 256, 8},
    {"kv", -1, 1},
};
static const int32_t axes_of_loss_gradient__tokens[] = {0, 1};
static const int32_t axes_of_loss_gradient__next[] = {0, 1};
static const int32_t axes_of_loss_gradient__words[] = {2, 3};
static const int32_t axes_of_loss_gradient__places[] = {4, 3};
static const int32_t axes_of_loss_gradient__gain[] = {3};
static const int32_t axes_of_loss_gradient__W[] = {3, 2};
static const int32_t axes_of_loss_gradient__Wq[] = {5, 3, 6, 7};
static const int32_t axes_of_loss_gradient__Wk[] = {5, 3, 6, 7};
static const int32_t axes_of_loss_gradient__Wv[] = {5, 3, 6, 7};
static const int32_t axes_of_loss_gradient__Wo[] = {5, 6, 7, 3};
static const int32_t axes_of_loss_gradient__W1[] = {5, 3, 8};
static const int32_t axes_of_loss_gradient__W2[] = {5, 8, 3};
static const int32_t axes_of_loss_gradient__gain1[] = {5, 3};
static const int32_t axes_of_loss_gradient__gain2[] = {5, 3};
static const int32_t axes_of_loss_gradient__dwords[] = {2, 3};
static const int32_t axes_of_loss_gradient__dplaces[] = {4, 3};
static const int32_t axes_of_loss_gradient__dgain[] = {3};
static const int32_t axes_of_loss_gradient__dW[] = {3, 2};
static const int32_t axes_of_loss_gradient__dWq[] = {5, 3, 6, 7};
static const int32_t axes_of_loss_gradient__dWk[] = {5, 3, 6, 7};
static const int32_t axes_of_loss_gradient__dWv[] = {5, 3, 6, 7};
static const int32_t axes_of_loss_gradient__dWo[] = {5, 6, 7, 3};
static const int32_t axes_of_loss_gradient__dW1[] = {5, 3, 8};
static const int32_t axes_of_loss_gradient__dW2[] = {5, 8, 3};
static const int32_t axes_of_loss_gradient__dgain1[] = {5, 3};
static const int32_t axes_of_loss_gradient__dgain2[] = {5, 3};
static const qkv_argument arguments_loss_gradient[] = {
    {"tokens", QKV_IN, 4, 2, axes_of_loss_gradient__tokens},
    {"next", QKV_IN, 4, 2, axes_of_loss_gradient__next},
    {"words", QKV_PARAM, 0, 2, axes_of_loss_gradient__words},
    {"places", QKV_PARAM, 0, 2, axes_of_loss_gradient__places},
    {"gain", QKV_PARAM, 0, 1, axes_of_loss_gradient__gain},
    {"W", QKV_PARAM, 0, 2, axes_of_loss_gradient__W},
    {"Wq", QKV_PARAM, 0, 4, axes_of_loss_gradient__Wq},
    {"Wk", QKV_PARAM, 0, 4, axes_of_loss_gradient__Wk},
    {"Wv", QKV_PARAM, 0, 4, axes_of_loss_gradient__Wv},
    {"Wo", QKV_PARAM, 0, 4, axes_of_loss_gradient__Wo},
    {"W1", QKV_PARAM, 0, 3, axes_of_loss_gradient__W1},
    {"W2", QKV_PARAM, 0, 3, axes_of_loss_gradient__W2},
    {"gain1", QKV_PARAM, 0, 2, axes_of_loss_gradient__gain1},
    {"gain2", QKV_PARAM, 0, 2, axes_of_loss_gradient__gain2},
    {"dloss", QKV_IN, 0, 0, 0},
    {"dwords", QKV_OUT, 0, 2, axes_of_loss_gradient__dwords},
    {"dplaces", QKV_OUT, 0, 2, axes_of_loss_gradient__dplaces},
    {"dgain", QKV_OUT, 0, 1, axes_of_loss_gradient__dgain},
    {"dW", QKV_OUT, 0, 2, axes_of_loss_gradient__dW},
    {"dWq", QKV_OUT, 0, 4, axes_of_loss_gradient__dWq},
    {"dWk", QKV_OUT, 0, 4, axes_of_loss_gradient__dWk},
    {"dWv", QKV_OUT, 0, 4, axes_of_loss_gradient__dWv},
    {"dWo", QKV_OUT, 0, 4, axes_of_loss_gradient__dWo},
    {"dW1", QKV_OUT, 0, 3, axes_of_loss_gradient__dW1},
    {"dW2", QKV_OUT, 0, 3, axes_of_loss_gradient__dW2},
    {"dgain1", QKV_OUT, 0, 2, axes_of_loss_gradient__dgain1},
    {"dgain2", QKV_OUT, 0, 2, axes_of_loss_gradient__dgain2},
};
static const int32_t pack_loss_gradient__W_rows[] = {0};
static const int32_t pack_loss_gradient__W_columns[] = {1};
static const qkv_pack packs_loss_gradient[] = {
    {5, 64, 0, 1, 1, 0, pack_loss_gradient__W_rows, pack_loss_gradient__W_columns},
};
static const qkv_variant variants_loss_gradient[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_loss_gradient_x86_64_v4, 1, packs_loss_gradient},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_loss_gradient_x86_64_v3, 1, packs_loss_gradient},
};
static const qkv_kernel kernel_loss_gradient = {
    QKV_ABI, "loss_gradient", UINT64_C(10968222037610114677), 10, 27, 0, 2,
    axes_loss_gradient, arguments_loss_gradient, 0, variants_loss_gradient};

int qkv_loss_gradient(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9, const qkv_tensor *a10, const qkv_tensor *a11, const qkv_tensor *a12, const qkv_tensor *a13, const qkv_tensor *a14, const qkv_tensor *a15, const qkv_tensor *a16, const qkv_tensor *a17, const qkv_tensor *a18, const qkv_tensor *a19, const qkv_tensor *a20, const qkv_tensor *a21, const qkv_tensor *a22, const qkv_tensor *a23, const qkv_tensor *a24, const qkv_tensor *a25, const qkv_tensor *a26) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9 || !a10 || !a11 || !a12 || !a13 || !a14 || !a15 || !a16 || !a17 || !a18 || !a19 || !a20 || !a21 || !a22 || !a23 || !a24 || !a25 || !a26) return qkv_call(&kernel_loss_gradient, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9, *a10, *a11, *a12, *a13, *a14, *a15, *a16, *a17, *a18, *a19, *a20, *a21, *a22, *a23, *a24, *a25, *a26};
  return qkv_call(&kernel_loss_gradient, a, 27, 0, 0);
}

const qkv_kernel *const qkv_library_train_kernels[] = {&kernel_model, &kernel_loss, &kernel_loss_gradient};

static qkv_library library = {"train_kernels", qkv_library_train_kernels, 3, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
