/* luong_bahdanau_kernels: written by the code generator. */
#include "luong_bahdanau_kernels.kernels.h"

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

static int in_order_dot_attention(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6]), last_position(a[7])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], a[7], &last[0], &last[1], &last[2], a[4]};
  return code(b);
}
extern int qkv_code_dot_attention_x86_64_v4_argv(void **);
static int enter_qkv_code_dot_attention_x86_64_v4(void **a) { return in_order_dot_attention(qkv_code_dot_attention_x86_64_v4_argv, a); }
extern int qkv_code_dot_attention_x86_64_v3_argv(void **);
static int enter_qkv_code_dot_attention_x86_64_v3(void **a) { return in_order_dot_attention(qkv_code_dot_attention_x86_64_v3_argv, a); }
extern int qkv_code_dot_attention_cuda_argv(void **);
static int enter_qkv_code_dot_attention_cuda(void **a) { return in_order_dot_attention(qkv_code_dot_attention_cuda_argv, a); }
extern int qkv_code_dot_attention_opencl_argv(void **);
static int enter_qkv_code_dot_attention_opencl(void **a) { return in_order_dot_attention(qkv_code_dot_attention_opencl_argv, a); }
static const qkv_axis axes_dot_attention[] = {
    {"batch", -1, 0},
    {"step", -1, 1},
    {"d_h", 64, 2},
    {"source", -1, 3},
};
static const int32_t axes_of_dot_attention__h[] = {0, 1, 2};
static const int32_t axes_of_dot_attention__s[] = {0, 3, 2};
static const int32_t axes_of_dot_attention__length[] = {0};
static const int32_t axes_of_dot_attention__context[] = {0, 1, 2};
static const qkv_argument arguments_dot_attention[] = {
    {"h", QKV_IN, 0, 3, axes_of_dot_attention__h},
    {"s", QKV_IN, 0, 3, axes_of_dot_attention__s},
    {"length", QKV_IN, 4, 1, axes_of_dot_attention__length},
    {"context", QKV_OUT, 0, 3, axes_of_dot_attention__context},
};
static const qkv_variant variants_dot_attention[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_dot_attention_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_dot_attention_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_dot_attention_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_dot_attention_opencl, 0, 0},
};
static const qkv_kernel kernel_dot_attention = {
    QKV_ABI, "dot_attention", UINT64_C(17777562379928979858), 4, 4, 0, 4,
    axes_dot_attention, arguments_dot_attention, 0, variants_dot_attention};

int qkv_dot_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_dot_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_dot_attention, a, 4, 0, 0);
}

static int in_order_general_attention(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[6]), last_position(a[7]), last_position(a[8])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[6], a[7], a[8], &last[0], &last[1], &last[2], a[5]};
  return code(b);
}
extern int qkv_code_general_attention_x86_64_v4_argv(void **);
static int enter_qkv_code_general_attention_x86_64_v4(void **a) { return in_order_general_attention(qkv_code_general_attention_x86_64_v4_argv, a); }
extern int qkv_code_general_attention_x86_64_v3_argv(void **);
static int enter_qkv_code_general_attention_x86_64_v3(void **a) { return in_order_general_attention(qkv_code_general_attention_x86_64_v3_argv, a); }
extern int qkv_code_general_attention_cuda_argv(void **);
static int enter_qkv_code_general_attention_cuda(void **a) { return in_order_general_attention(qkv_code_general_attention_cuda_argv, a); }
extern int qkv_code_general_attention_opencl_argv(void **);
static int enter_qkv_code_general_attention_opencl(void **a) { return in_order_general_attention(qkv_code_general_attention_opencl_argv, a); }
static const qkv_axis axes_general_attention[] = {
    {"batch", -1, 0},
    {"step", -1, 1},
    {"d_h", 64, 2},
    {"source", -1, 3},
    {"d_s", 64, 4},
};
static const int32_t axes_of_general_attention__h[] = {0, 1, 2};
static const int32_t axes_of_general_attention__s[] = {0, 3, 4};
static const int32_t axes_of_general_attention__length[] = {0};
static const int32_t axes_of_general_attention__W[] = {2, 4};
static const int32_t axes_of_general_attention__context[] = {0, 1, 4};
static const qkv_argument arguments_general_attention[] = {
    {"h", QKV_IN, 0, 3, axes_of_general_attention__h},
    {"s", QKV_IN, 0, 3, axes_of_general_attention__s},
    {"length", QKV_IN, 4, 1, axes_of_general_attention__length},
    {"W", QKV_PARAM, 0, 2, axes_of_general_attention__W},
    {"context", QKV_OUT, 0, 3, axes_of_general_attention__context},
};
static const int32_t pack_general_attention__W_rows[] = {0};
static const int32_t pack_general_attention__W_columns[] = {1};
static const qkv_pack packs_general_attention[] = {
    {3, 64, 0, 1, 1, 0, pack_general_attention__W_rows, pack_general_attention__W_columns},
};
static const qkv_variant variants_general_attention[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_general_attention_x86_64_v4, 1, packs_general_attention},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_general_attention_x86_64_v3, 1, packs_general_attention},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_general_attention_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_general_attention_opencl, 0, 0},
};
static const qkv_kernel kernel_general_attention = {
    QKV_ABI, "general_attention", UINT64_C(7769493686572659295), 5, 5, 0, 4,
    axes_general_attention, arguments_general_attention, 0, variants_general_attention};

int qkv_general_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4) {
  if (!a0 || !a1 || !a2 || !a3 || !a4) return qkv_call(&kernel_general_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4};
  return qkv_call(&kernel_general_attention, a, 5, 0, 0);
}

static int in_order_concat_attention(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[7]), last_position(a[8]), last_position(a[9])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[7], a[8], a[9], &last[0], &last[1], &last[2], a[6]};
  return code(b);
}
extern int qkv_code_concat_attention_x86_64_v4_argv(void **);
static int enter_qkv_code_concat_attention_x86_64_v4(void **a) { return in_order_concat_attention(qkv_code_concat_attention_x86_64_v4_argv, a); }
extern int qkv_code_concat_attention_x86_64_v3_argv(void **);
static int enter_qkv_code_concat_attention_x86_64_v3(void **a) { return in_order_concat_attention(qkv_code_concat_attention_x86_64_v3_argv, a); }
extern int qkv_code_concat_attention_cuda_argv(void **);
static int enter_qkv_code_concat_attention_cuda(void **a) { return in_order_concat_attention(qkv_code_concat_attention_cuda_argv, a); }
extern int qkv_code_concat_attention_opencl_argv(void **);
static int enter_qkv_code_concat_attention_opencl(void **a) { return in_order_concat_attention(qkv_code_concat_attention_opencl_argv, a); }
static const qkv_axis axes_concat_attention[] = {
    {"batch", -1, 0},
    {"step", -1, 1},
    {"d_h", 64, 2},
    {"source", -1, 3},
    {"d_s", 64, 4},
    {"both", 128, 5},
    {"hidden", 64, 6},
};
static const int32_t axes_of_concat_attention__h[] = {0, 1, 2};
static const int32_t axes_of_concat_attention__s[] = {0, 3, 4};
static const int32_t axes_of_concat_attention__length[] = {0};
static const int32_t axes_of_concat_attention__W[] = {5, 6};
static const int32_t axes_of_concat_attention__v[] = {6};
static const int32_t axes_of_concat_attention__context[] = {0, 1, 4};
static const qkv_argument arguments_concat_attention[] = {
    {"h", QKV_IN, 0, 3, axes_of_concat_attention__h},
    {"s", QKV_IN, 0, 3, axes_of_concat_attention__s},
    {"length", QKV_IN, 4, 1, axes_of_concat_attention__length},
    {"W", QKV_PARAM, 0, 2, axes_of_concat_attention__W},
    {"v", QKV_PARAM, 0, 1, axes_of_concat_attention__v},
    {"context", QKV_OUT, 0, 3, axes_of_concat_attention__context},
};
static const int32_t pack_concat_attention__W_rows[] = {0};
static const int32_t pack_concat_attention__W_columns[] = {1};
static const qkv_pack packs_concat_attention[] = {
    {3, 64, 0, 1, 1, 0, pack_concat_attention__W_rows, pack_concat_attention__W_columns},
};
static const qkv_variant variants_concat_attention[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_concat_attention_x86_64_v4, 1, packs_concat_attention},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_concat_attention_x86_64_v3, 1, packs_concat_attention},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_concat_attention_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_concat_attention_opencl, 0, 0},
};
static const qkv_kernel kernel_concat_attention = {
    QKV_ABI, "concat_attention", UINT64_C(9108428232995614026), 7, 6, 0, 4,
    axes_concat_attention, arguments_concat_attention, 0, variants_concat_attention};

int qkv_concat_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5) return qkv_call(&kernel_concat_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5};
  return qkv_call(&kernel_concat_attention, a, 6, 0, 0);
}

static int in_order_additive_attention(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[8]), last_position(a[9]), last_position(a[10])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[8], a[9], a[10], &last[0], &last[1], &last[2], a[7]};
  return code(b);
}
extern int qkv_code_additive_attention_x86_64_v4_argv(void **);
static int enter_qkv_code_additive_attention_x86_64_v4(void **a) { return in_order_additive_attention(qkv_code_additive_attention_x86_64_v4_argv, a); }
extern int qkv_code_additive_attention_x86_64_v3_argv(void **);
static int enter_qkv_code_additive_attention_x86_64_v3(void **a) { return in_order_additive_attention(qkv_code_additive_attention_x86_64_v3_argv, a); }
extern int qkv_code_additive_attention_cuda_argv(void **);
static int enter_qkv_code_additive_attention_cuda(void **a) { return in_order_additive_attention(qkv_code_additive_attention_cuda_argv, a); }
extern int qkv_code_additive_attention_opencl_argv(void **);
static int enter_qkv_code_additive_attention_opencl(void **a) { return in_order_additive_attention(qkv_code_additive_attention_opencl_argv, a); }
static const qkv_axis axes_additive_attention[] = {
    {"batch", -1, 0},
    {"step", -1, 1},
    {"d_h", 64, 2},
    {"source", -1, 3},
    {"d_s", 64, 4},
    {"hidden", 64, 5},
};
static const int32_t axes_of_additive_attention__h[] = {0, 1, 2};
static const int32_t axes_of_additive_attention__s[] = {0, 3, 4};
static const int32_t axes_of_additive_attention__length[] = {0};
static const int32_t axes_of_additive_attention__W[] = {2, 5};
static const int32_t axes_of_additive_attention__U[] = {4, 5};
static const int32_t axes_of_additive_attention__v[] = {5};
static const int32_t axes_of_additive_attention__context[] = {0, 1, 4};
static const qkv_argument arguments_additive_attention[] = {
    {"h", QKV_IN, 0, 3, axes_of_additive_attention__h},
    {"s", QKV_IN, 0, 3, axes_of_additive_attention__s},
    {"length", QKV_IN, 4, 1, axes_of_additive_attention__length},
    {"W", QKV_PARAM, 0, 2, axes_of_additive_attention__W},
    {"U", QKV_PARAM, 0, 2, axes_of_additive_attention__U},
    {"v", QKV_PARAM, 0, 1, axes_of_additive_attention__v},
    {"context", QKV_OUT, 0, 3, axes_of_additive_attention__context},
};
static const int32_t pack_additive_attention__W_rows[] = {0};
static const int32_t pack_additive_attention__W_columns[] = {1};
static const int32_t pack_additive_attention__U_rows[] = {0};
static const int32_t pack_additive_attention__U_columns[] = {1};
static const qkv_pack packs_additive_attention[] = {
    {3, 64, 0, 1, 1, 0, pack_additive_attention__W_rows, pack_additive_attention__W_columns},
    {4, 64, 0, 1, 1, 0, pack_additive_attention__U_rows, pack_additive_attention__U_columns},
};
static const qkv_variant variants_additive_attention[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_additive_attention_x86_64_v4, 2, packs_additive_attention},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_additive_attention_x86_64_v3, 2, packs_additive_attention},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_additive_attention_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_additive_attention_opencl, 0, 0},
};
static const qkv_kernel kernel_additive_attention = {
    QKV_ABI, "additive_attention", UINT64_C(3507831901536319572), 6, 7, 0, 4,
    axes_additive_attention, arguments_additive_attention, 0, variants_additive_attention};

int qkv_additive_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6) return qkv_call(&kernel_additive_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6};
  return qkv_call(&kernel_additive_attention, a, 7, 0, 0);
}

const qkv_kernel *const qkv_library_luong_bahdanau_kernels[] = {&kernel_dot_attention, &kernel_general_attention, &kernel_concat_attention, &kernel_additive_attention};

static qkv_library library = {"luong_bahdanau_kernels", qkv_library_luong_bahdanau_kernels, 4, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
