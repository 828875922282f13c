/* nystrom_kernels: written by the code generator. */
#include "nystrom_kernels.kernels.h"

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

static int in_order_full(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], &last[0], a[4]};
  return code(b);
}
extern int qkv_code_full_x86_64_v4_argv(void **);
static int enter_qkv_code_full_x86_64_v4(void **a) { return in_order_full(qkv_code_full_x86_64_v4_argv, a); }
extern int qkv_code_full_x86_64_v3_argv(void **);
static int enter_qkv_code_full_x86_64_v3(void **a) { return in_order_full(qkv_code_full_x86_64_v3_argv, a); }
static const qkv_axis axes_full[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
};
static const int32_t axes_of_full__Q[] = {0, 1, 2};
static const int32_t axes_of_full__K[] = {0, 3, 2};
static const int32_t axes_of_full__V[] = {0, 3, 4};
static const int32_t axes_of_full__O[] = {0, 1, 4};
static const qkv_argument arguments_full[] = {
    {"Q", QKV_IN, 0, 3, axes_of_full__Q},
    {"K", QKV_IN, 0, 3, axes_of_full__K},
    {"V", QKV_IN, 0, 3, axes_of_full__V},
    {"O", QKV_OUT, 0, 3, axes_of_full__O},
};
static const qkv_variant variants_full[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_full_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_full_x86_64_v3, 0, 0},
};
static const qkv_kernel kernel_full = {
    QKV_ABI, "full", UINT64_C(6006283871862709169), 5, 4, 0, 2,
    axes_full, arguments_full, 0, variants_full};

int qkv_full(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_full, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_full, a, 4, 0, 0);
}

static int in_order_landmarks_8(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return code(b);
}
extern int qkv_code_landmarks_8_x86_64_v4_argv(void **);
static int enter_qkv_code_landmarks_8_x86_64_v4(void **a) { return in_order_landmarks_8(qkv_code_landmarks_8_x86_64_v4_argv, a); }
extern int qkv_code_landmarks_8_x86_64_v3_argv(void **);
static int enter_qkv_code_landmarks_8_x86_64_v3(void **a) { return in_order_landmarks_8(qkv_code_landmarks_8_x86_64_v3_argv, a); }
static const qkv_axis axes_landmarks_8[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
    {"m", 8, 5},
    {"segment", -1, 6},
    {"l", 8, 7},
    {"s", 8, 8},
};
static const int32_t axes_of_landmarks_8__Q[] = {0, 1, 2};
static const int32_t axes_of_landmarks_8__K[] = {0, 3, 2};
static const int32_t axes_of_landmarks_8__V[] = {0, 3, 4};
static const int32_t axes_of_landmarks_8__O[] = {0, 1, 4};
static const qkv_argument arguments_landmarks_8[] = {
    {"Q", QKV_IN, 0, 3, axes_of_landmarks_8__Q},
    {"K", QKV_IN, 0, 3, axes_of_landmarks_8__K},
    {"V", QKV_IN, 0, 3, axes_of_landmarks_8__V},
    {"O", QKV_OUT, 0, 3, axes_of_landmarks_8__O},
};
static const qkv_condition conditions_landmarks_8[] = {
    {QKV_PRODUCT, 3, 5, 6, "split<kv, m, segment>"},
    {QKV_PRODUCT, 1, 7, 6, "split<seq, l, segment>"},
};
static const qkv_variant variants_landmarks_8[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_landmarks_8_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_landmarks_8_x86_64_v3, 0, 0},
};
static const qkv_kernel kernel_landmarks_8 = {
    QKV_ABI, "landmarks_8", UINT64_C(6929058670598185902), 9, 4, 2, 2,
    axes_landmarks_8, arguments_landmarks_8, conditions_landmarks_8, variants_landmarks_8};

int qkv_landmarks_8(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_landmarks_8, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_landmarks_8, a, 4, 0, 0);
}

static int in_order_landmarks_16(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return code(b);
}
extern int qkv_code_landmarks_16_x86_64_v4_argv(void **);
static int enter_qkv_code_landmarks_16_x86_64_v4(void **a) { return in_order_landmarks_16(qkv_code_landmarks_16_x86_64_v4_argv, a); }
extern int qkv_code_landmarks_16_x86_64_v3_argv(void **);
static int enter_qkv_code_landmarks_16_x86_64_v3(void **a) { return in_order_landmarks_16(qkv_code_landmarks_16_x86_64_v3_argv, a); }
static const qkv_axis axes_landmarks_16[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
    {"m", 16, 5},
    {"segment", -1, 6},
    {"l", 16, 7},
    {"s", 16, 8},
};
static const int32_t axes_of_landmarks_16__Q[] = {0, 1, 2};
static const int32_t axes_of_landmarks_16__K[] = {0, 3, 2};
static const int32_t axes_of_landmarks_16__V[] = {0, 3, 4};
static const int32_t axes_of_landmarks_16__O[] = {0, 1, 4};
static const qkv_argument arguments_landmarks_16[] = {
    {"Q", QKV_IN, 0, 3, axes_of_landmarks_16__Q},
    {"K", QKV_IN, 0, 3, axes_of_landmarks_16__K},
    {"V", QKV_IN, 0, 3, axes_of_landmarks_16__V},
    {"O", QKV_OUT, 0, 3, axes_of_landmarks_16__O},
};
static const qkv_condition conditions_landmarks_16[] = {
    {QKV_PRODUCT, 3, 5, 6, "split<kv, m, segment>"},
    {QKV_PRODUCT, 1, 7, 6, "split<seq, l, segment>"},
};
static const qkv_variant variants_landmarks_16[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_landmarks_16_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_landmarks_16_x86_64_v3, 0, 0},
};
static const qkv_kernel kernel_landmarks_16 = {
    QKV_ABI, "landmarks_16", UINT64_C(1209854788339218290), 9, 4, 2, 2,
    axes_landmarks_16, arguments_landmarks_16, conditions_landmarks_16, variants_landmarks_16};

int qkv_landmarks_16(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_landmarks_16, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_landmarks_16, a, 4, 0, 0);
}

static int in_order_landmarks_32(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return code(b);
}
extern int qkv_code_landmarks_32_x86_64_v4_argv(void **);
static int enter_qkv_code_landmarks_32_x86_64_v4(void **a) { return in_order_landmarks_32(qkv_code_landmarks_32_x86_64_v4_argv, a); }
extern int qkv_code_landmarks_32_x86_64_v3_argv(void **);
static int enter_qkv_code_landmarks_32_x86_64_v3(void **a) { return in_order_landmarks_32(qkv_code_landmarks_32_x86_64_v3_argv, a); }
static const qkv_axis axes_landmarks_32[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
    {"m", 32, 5},
    {"segment", -1, 6},
    {"l", 32, 7},
    {"s", 32, 8},
};
static const int32_t axes_of_landmarks_32__Q[] = {0, 1, 2};
static const int32_t axes_of_landmarks_32__K[] = {0, 3, 2};
static const int32_t axes_of_landmarks_32__V[] = {0, 3, 4};
static const int32_t axes_of_landmarks_32__O[] = {0, 1, 4};
static const qkv_argument arguments_landmarks_32[] = {
    {"Q", QKV_IN, 0, 3, axes_of_landmarks_32__Q},
    {"K", QKV_IN, 0, 3, axes_of_landmarks_32__K},
    {"V", QKV_IN, 0, 3, axes_of_landmarks_32__V},
    {"O", QKV_OUT, 0, 3, axes_of_landmarks_32__O},
};
static const qkv_condition conditions_landmarks_32[] = {
    {QKV_PRODUCT, 3, 5, 6, "split<kv, m, segment>"},
    {QKV_PRODUCT, 1, 7, 6, "split<seq, l, segment>"},
};
static const qkv_variant variants_landmarks_32[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_landmarks_32_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_landmarks_32_x86_64_v3, 0, 0},
};
static const qkv_kernel kernel_landmarks_32 = {
    QKV_ABI, "landmarks_32", UINT64_C(17664826975652471676), 9, 4, 2, 2,
    axes_landmarks_32, arguments_landmarks_32, conditions_landmarks_32, variants_landmarks_32};

int qkv_landmarks_32(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_landmarks_32, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_landmarks_32, a, 4, 0, 0);
}

static int in_order_landmarks_64(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return code(b);
}
extern int qkv_code_landmarks_64_x86_64_v4_argv(void **);
static int enter_qkv_code_landmarks_64_x86_64_v4(void **a) { return in_order_landmarks_64(qkv_code_landmarks_64_x86_64_v4_argv, a); }
extern int qkv_code_landmarks_64_x86_64_v3_argv(void **);
static int enter_qkv_code_landmarks_64_x86_64_v3(void **a) { return in_order_landmarks_64(qkv_code_landmarks_64_x86_64_v3_argv, a); }
static const qkv_axis axes_landmarks_64[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
    {"m", 64, 5},
    {"segment", -1, 6},
    {"l", 64, 7},
    {"s", 64, 8},
};
static const int32_t axes_of_landmarks_64__Q[] = {0, 1, 2};
static const int32_t axes_of_landmarks_64__K[] = {0, 3, 2};
static const int32_t axes_of_landmarks_64__V[] = {0, 3, 4};
static const int32_t axes_of_landmarks_64__O[] = {0, 1, 4};
static const qkv_argument arguments_landmarks_64[] = {
    {"Q", QKV_IN, 0, 3, axes_of_landmarks_64__Q},
    {"K", QKV_IN, 0, 3, axes_of_landmarks_64__K},
    {"V", QKV_IN, 0, 3, axes_of_landmarks_64__V},
    {"O", QKV_OUT, 0, 3, axes_of_landmarks_64__O},
};
static const qkv_condition conditions_landmarks_64[] = {
    {QKV_PRODUCT, 3, 5, 6, "split<kv, m, segment>"},
    {QKV_PRODUCT, 1, 7, 6, "split<seq, l, segment>"},
};
static const qkv_variant variants_landmarks_64[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_landmarks_64_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_landmarks_64_x86_64_v3, 0, 0},
};
static const qkv_kernel kernel_landmarks_64 = {
    QKV_ABI, "landmarks_64", UINT64_C(2064051441501047951), 9, 4, 2, 2,
    axes_landmarks_64, arguments_landmarks_64, conditions_landmarks_64, variants_landmarks_64};

int qkv_landmarks_64(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_landmarks_64, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_landmarks_64, a, 4, 0, 0);
}

static int in_order_random_features(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[6]), last_position(a[7])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[6], a[7], &last[0], &last[1], a[5]};
  return code(b);
}
extern int qkv_code_random_features_x86_64_v4_argv(void **);
static int enter_qkv_code_random_features_x86_64_v4(void **a) { return in_order_random_features(qkv_code_random_features_x86_64_v4_argv, a); }
extern int qkv_code_random_features_x86_64_v3_argv(void **);
static int enter_qkv_code_random_features_x86_64_v3(void **a) { return in_order_random_features(qkv_code_random_features_x86_64_v3_argv, a); }
static const qkv_axis axes_random_features[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
    {"feature", -1, 5},
};
static const int32_t axes_of_random_features__Q[] = {0, 1, 2};
static const int32_t axes_of_random_features__K[] = {0, 3, 2};
static const int32_t axes_of_random_features__V[] = {0, 3, 4};
static const int32_t axes_of_random_features__W[] = {5, 2};
static const int32_t axes_of_random_features__O[] = {0, 1, 4};
static const qkv_argument arguments_random_features[] = {
    {"Q", QKV_IN, 0, 3, axes_of_random_features__Q},
    {"K", QKV_IN, 0, 3, axes_of_random_features__K},
    {"V", QKV_IN, 0, 3, axes_of_random_features__V},
    {"W", QKV_PARAM, 0, 2, axes_of_random_features__W},
    {"O", QKV_OUT, 0, 3, axes_of_random_features__O},
};
static const int32_t pack_random_features__W_rows[] = {1};
static const int32_t pack_random_features__W_columns[] = {0};
static const qkv_pack packs_random_features[] = {
    {3, 48, 0, 1, 1, 0, pack_random_features__W_rows, pack_random_features__W_columns},
};
static const qkv_variant variants_random_features[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_random_features_x86_64_v4, 1, packs_random_features},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_random_features_x86_64_v3, 1, packs_random_features},
};
static const qkv_kernel kernel_random_features = {
    QKV_ABI, "random_features", UINT64_C(4091834973654603436), 6, 5, 0, 2,
    axes_random_features, arguments_random_features, 0, variants_random_features};

int qkv_random_features(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4) {
  if (!a0 || !a1 || !a2 || !a3 || !a4) return qkv_call(&kernel_random_features, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4};
  return qkv_call(&kernel_random_features, a, 5, 0, 0);
}

const qkv_kernel *const qkv_library_nystrom_kernels[] = {&kernel_full, &kernel_landmarks_8, &kernel_landmarks_16, &kernel_landmarks_32, &kernel_landmarks_64, &kernel_random_features};

static qkv_library library = {"nystrom_kernels", qkv_library_nystrom_kernels, 6, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
