/* ring_kernels: written by the code generator. */
#include "ring_kernels.kernels.h"

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

static int in_order_attention(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], &last[0], a[4]};
  return code(b);
}
extern int qkv_code_attention_x86_64_v4_argv(void **);
static int enter_qkv_code_attention_x86_64_v4(void **a) { return in_order_attention(qkv_code_attention_x86_64_v4_argv, a); }
extern int qkv_code_attention_x86_64_v3_argv(void **);
static int enter_qkv_code_attention_x86_64_v3(void **a) { return in_order_attention(qkv_code_attention_x86_64_v3_argv, a); }
static const qkv_axis axes_attention[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
    {"kv", -1, 1},
};
static const int32_t axes_of_attention__Q[] = {0, 1, 2};
static const int32_t axes_of_attention__K[] = {0, 3, 2};
static const int32_t axes_of_attention__V[] = {0, 3, 2};
static const int32_t axes_of_attention__O[] = {0, 1, 2};
static const qkv_argument arguments_attention[] = {
    {"Q", QKV_IN, 0, 3, axes_of_attention__Q},
    {"K", QKV_IN, 0, 3, axes_of_attention__K},
    {"V", QKV_IN, 0, 3, axes_of_attention__V},
    {"O", QKV_OUT, 0, 3, axes_of_attention__O},
};
static const qkv_variant variants_attention[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_attention_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_attention_x86_64_v3, 0, 0},
};
static const qkv_kernel kernel_attention = {
    QKV_ABI, "attention", UINT64_C(15081798567099895416), 4, 4, 0, 2,
    axes_attention, arguments_attention, 0, variants_attention};

int qkv_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_attention, a, 4, 0, 0);
}

static int in_order_attention_hop0(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[11]), last_position(a[12]), last_position(a[13])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[11], a[12], a[13], &last[0], &last[1], &last[2], a[9], a[10]};
  return code(b);
}
extern int qkv_code_attention_hop0_x86_64_v4_argv(void **);
static int enter_qkv_code_attention_hop0_x86_64_v4(void **a) { return in_order_attention_hop0(qkv_code_attention_hop0_x86_64_v4_argv, a); }
extern int qkv_code_attention_hop0_x86_64_v3_argv(void **);
static int enter_qkv_code_attention_hop0_x86_64_v3(void **a) { return in_order_attention_hop0(qkv_code_attention_hop0_x86_64_v3_argv, a); }
static const qkv_axis axes_attention_hop0[] = {
    {"heads", -1, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
    {"kv", -1, 3},
};
static const int32_t axes_of_attention_hop0__before_sum11[] = {0, 1, 2};
static const int32_t axes_of_attention_hop0__before_lse10[] = {0, 1};
static const int32_t axes_of_attention_hop0__Q[] = {0, 1, 2};
static const int32_t axes_of_attention_hop0__K[] = {0, 3, 2};
static const int32_t axes_of_attention_hop0__V[] = {0, 3, 2};
static const int32_t axes_of_attention_hop0__sum11[] = {0, 1, 2};
static const int32_t axes_of_attention_hop0__lse10[] = {0, 1};
static const qkv_argument arguments_attention_hop0[] = {
    {"first_seq", QKV_IN, 4, 0, 0},
    {"first_kv", QKV_IN, 4, 0, 0},
    {"first_heads", QKV_IN, 4, 0, 0},
    {"before_sum11", QKV_IN, 0, 3, axes_of_attention_hop0__before_sum11},
    {"before_lse10", QKV_IN, 0, 2, axes_of_attention_hop0__before_lse10},
    {"Q", QKV_IN, 0, 3, axes_of_attention_hop0__Q},
    {"K", QKV_IN, 0, 3, axes_of_attention_hop0__K},
    {"V", QKV_IN, 0, 3, axes_of_attention_hop0__V},
    {"sum11", QKV_OUT, 0, 3, axes_of_attention_hop0__sum11},
    {"lse10", QKV_OUT, 0, 2, axes_of_attention_hop0__lse10},
};
static const qkv_variant variants_attention_hop0[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_attention_hop0_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_attention_hop0_x86_64_v3, 0, 0},
};
static const qkv_kernel kernel_attention_hop0 = {
    QKV_ABI, "attention_hop0", UINT64_C(5374077536161302043), 4, 10, 0, 2,
    axes_attention_hop0, arguments_attention_hop0, 0, variants_attention_hop0};

int qkv_attention_hop0(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5, const qkv_tensor *a6, const qkv_tensor *a7, const qkv_tensor *a8, const qkv_tensor *a9) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5 || !a6 || !a7 || !a8 || !a9) return qkv_call(&kernel_attention_hop0, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5, *a6, *a7, *a8, *a9};
  return qkv_call(&kernel_attention_hop0, a, 10, 0, 0);
}

static int in_order_attention_merge0(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[7]), last_position(a[8])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[7], a[8], &last[0], &last[1], a[5], a[6]};
  return code(b);
}
extern int qkv_code_attention_merge0_x86_64_v4_argv(void **);
static int enter_qkv_code_attention_merge0_x86_64_v4(void **a) { return in_order_attention_merge0(qkv_code_attention_merge0_x86_64_v4_argv, a); }
extern int qkv_code_attention_merge0_x86_64_v3_argv(void **);
static int enter_qkv_code_attention_merge0_x86_64_v3(void **a) { return in_order_attention_merge0(qkv_code_attention_merge0_x86_64_v3_argv, a); }
static const qkv_axis axes_attention_merge0[] = {
    {"heads", -1, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
};
static const int32_t axes_of_attention_merge0__before_sum11[] = {0, 1, 2};
static const int32_t axes_of_attention_merge0__before_lse10[] = {0, 1};
static const int32_t axes_of_attention_merge0__with_sum11[] = {0, 1, 2};
static const int32_t axes_of_attention_merge0__with_lse10[] = {0, 1};
static const int32_t axes_of_attention_merge0__sum11[] = {0, 1, 2};
static const int32_t axes_of_attention_merge0__lse10[] = {0, 1};
static const qkv_argument arguments_attention_merge0[] = {
    {"before_sum11", QKV_IN, 0, 3, axes_of_attention_merge0__before_sum11},
    {"before_lse10", QKV_IN, 0, 2, axes_of_attention_merge0__before_lse10},
    {"with_sum11", QKV_IN, 0, 3, axes_of_attention_merge0__with_sum11},
    {"with_lse10", QKV_IN, 0, 2, axes_of_attention_merge0__with_lse10},
    {"sum11", QKV_OUT, 0, 3, axes_of_attention_merge0__sum11},
    {"lse10", QKV_OUT, 0, 2, axes_of_attention_merge0__lse10},
};
static const qkv_variant variants_attention_merge0[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_attention_merge0_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_attention_merge0_x86_64_v3, 0, 0},
};
static const qkv_kernel kernel_attention_merge0 = {
    QKV_ABI, "attention_merge0", UINT64_C(11846394717595734634), 3, 6, 0, 2,
    axes_attention_merge0, arguments_attention_merge0, 0, variants_attention_merge0};

int qkv_attention_merge0(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4, const qkv_tensor *a5) {
  if (!a0 || !a1 || !a2 || !a3 || !a4 || !a5) return qkv_call(&kernel_attention_merge0, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4, *a5};
  return qkv_call(&kernel_attention_merge0, a, 6, 0, 0);
}

static int in_order_attention_seen0(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[6]), last_position(a[7]), last_position(a[8])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[6], a[7], a[8], &last[0], &last[1], &last[2], a[5]};
  return code(b);
}
extern int qkv_code_attention_seen0_x86_64_v4_argv(void **);
static int enter_qkv_code_attention_seen0_x86_64_v4(void **a) { return in_order_attention_seen0(qkv_code_attention_seen0_x86_64_v4_argv, a); }
extern int qkv_code_attention_seen0_x86_64_v3_argv(void **);
static int enter_qkv_code_attention_seen0_x86_64_v3(void **a) { return in_order_attention_seen0(qkv_code_attention_seen0_x86_64_v3_argv, a); }
static const qkv_axis axes_attention_seen0[] = {
    {"heads", -1, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
    {"kv", -1, 3},
};
static const int32_t axes_of_attention_seen0__Q[] = {0, 1, 2};
static const int32_t axes_of_attention_seen0__K[] = {0, 3, 2};
static const qkv_argument arguments_attention_seen0[] = {
    {"Q", QKV_IN, 0, 3, axes_of_attention_seen0__Q},
    {"K", QKV_IN, 0, 3, axes_of_attention_seen0__K},
    {"first_kv", QKV_IN, 4, 0, 0},
    {"first_seq", QKV_IN, 4, 0, 0},
    {"seen_pairs", QKV_OUT, 3, 0, 0},
};
static const qkv_variant variants_attention_seen0[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_attention_seen0_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_attention_seen0_x86_64_v3, 0, 0},
};
static const qkv_kernel kernel_attention_seen0 = {
    QKV_ABI, "attention_seen0", UINT64_C(2841301631383739946), 4, 5, 0, 2,
    axes_attention_seen0, arguments_attention_seen0, 0, variants_attention_seen0};

int qkv_attention_seen0(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4) {
  if (!a0 || !a1 || !a2 || !a3 || !a4) return qkv_call(&kernel_attention_seen0, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4};
  return qkv_call(&kernel_attention_seen0, a, 5, 0, 0);
}

static int in_order_attention_own1(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[3])};
  void *b[] = {a[0], a[1], a[3], &last[0], a[2]};
  return code(b);
}
extern int qkv_code_attention_own1_x86_64_v4_argv(void **);
static int enter_qkv_code_attention_own1_x86_64_v4(void **a) { return in_order_attention_own1(qkv_code_attention_own1_x86_64_v4_argv, a); }
extern int qkv_code_attention_own1_x86_64_v3_argv(void **);
static int enter_qkv_code_attention_own1_x86_64_v3(void **a) { return in_order_attention_own1(qkv_code_attention_own1_x86_64_v3_argv, a); }
static const qkv_axis axes_attention_own1[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 32, 2},
};
static const int32_t axes_of_attention_own1__sum11[] = {0, 1, 2};
static const int32_t axes_of_attention_own1__O[] = {0, 1, 2};
static const qkv_argument arguments_attention_own1[] = {
    {"sum11", QKV_IN, 0, 3, axes_of_attention_own1__sum11},
    {"O", QKV_OUT, 0, 3, axes_of_attention_own1__O},
};
static const qkv_variant variants_attention_own1[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_attention_own1_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_attention_own1_x86_64_v3, 0, 0},
};
static const qkv_kernel kernel_attention_own1 = {
    QKV_ABI, "attention_own1", UINT64_C(3775726107240618273), 3, 2, 0, 2,
    axes_attention_own1, arguments_attention_own1, 0, variants_attention_own1};

int qkv_attention_own1(const qkv_tensor *a0, const qkv_tensor *a1) {
  if (!a0 || !a1) return qkv_call(&kernel_attention_own1, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1};
  return qkv_call(&kernel_attention_own1, a, 2, 0, 0);
}

const qkv_kernel *const qkv_library_ring_kernels[] = {&kernel_attention, &kernel_attention_hop0, &kernel_attention_merge0, &kernel_attention_seen0, &kernel_attention_own1};

static qkv_library library = {"ring_kernels", qkv_library_ring_kernels, 5, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
