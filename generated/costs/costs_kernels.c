/* costs_kernels: written by the code generator. */
#include "costs_kernels.kernels.h"

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

static int in_order_full_attention(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], &last[0], a[4]};
  return code(b);
}
extern int qkv_code_full_attention_x86_64_v4_argv(void **);
static int enter_qkv_code_full_attention_x86_64_v4(void **a) { return in_order_full_attention(qkv_code_full_attention_x86_64_v4_argv, a); }
extern int qkv_code_full_attention_x86_64_v3_argv(void **);
static int enter_qkv_code_full_attention_x86_64_v3(void **a) { return in_order_full_attention(qkv_code_full_attention_x86_64_v3_argv, a); }
extern int qkv_code_full_attention_cuda_argv(void **);
static int enter_qkv_code_full_attention_cuda(void **a) { return in_order_full_attention(qkv_code_full_attention_cuda_argv, a); }
extern int qkv_code_full_attention_opencl_argv(void **);
static int enter_qkv_code_full_attention_opencl(void **a) { return in_order_full_attention(qkv_code_full_attention_opencl_argv, a); }
static const qkv_axis axes_full_attention[] = {
    {"heads", 8, 0},
    {"seq", -1, 1},
    {"d_k", 64, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
};
static const int32_t axes_of_full_attention__Q[] = {0, 1, 2};
static const int32_t axes_of_full_attention__K[] = {0, 3, 2};
static const int32_t axes_of_full_attention__V[] = {0, 3, 4};
static const int32_t axes_of_full_attention__O[] = {0, 1, 4};
static const qkv_argument arguments_full_attention[] = {
    {"Q", QKV_IN, 0, 3, axes_of_full_attention__Q},
    {"K", QKV_IN, 0, 3, axes_of_full_attention__K},
    {"V", QKV_IN, 0, 3, axes_of_full_attention__V},
    {"O", QKV_OUT, 0, 3, axes_of_full_attention__O},
};
static const qkv_variant variants_full_attention[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_full_attention_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_full_attention_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_full_attention_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_full_attention_opencl, 0, 0},
};
static const qkv_kernel kernel_full_attention = {
    QKV_ABI, "full_attention", UINT64_C(9012244882095973942), 5, 4, 0, 4,
    axes_full_attention, arguments_full_attention, 0, variants_full_attention};

int qkv_full_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_full_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_full_attention, a, 4, 0, 0);
}

static int in_order_low_rank(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[6], &last[0], a[5]};
  return code(b);
}
extern int qkv_code_low_rank_x86_64_v4_argv(void **);
static int enter_qkv_code_low_rank_x86_64_v4(void **a) { return in_order_low_rank(qkv_code_low_rank_x86_64_v4_argv, a); }
extern int qkv_code_low_rank_x86_64_v3_argv(void **);
static int enter_qkv_code_low_rank_x86_64_v3(void **a) { return in_order_low_rank(qkv_code_low_rank_x86_64_v3_argv, a); }
extern int qkv_code_low_rank_cuda_argv(void **);
static int enter_qkv_code_low_rank_cuda(void **a) { return in_order_low_rank(qkv_code_low_rank_cuda_argv, a); }
extern int qkv_code_low_rank_opencl_argv(void **);
static int enter_qkv_code_low_rank_opencl(void **a) { return in_order_low_rank(qkv_code_low_rank_opencl_argv, a); }
static const qkv_axis axes_low_rank[] = {
    {"heads", 8, 0},
    {"seq", -1, 1},
    {"d_k", 64, 2},
    {"kv", -1, 1},
    {"r", 8, 4},
    {"d_v", 64, 5},
};
static const int32_t axes_of_low_rank__Q[] = {0, 1, 2};
static const int32_t axes_of_low_rank__K[] = {0, 3, 2};
static const int32_t axes_of_low_rank__U[] = {0, 3, 4};
static const int32_t axes_of_low_rank__A[] = {0, 4, 5};
static const int32_t axes_of_low_rank__O[] = {0, 1, 5};
static const qkv_argument arguments_low_rank[] = {
    {"Q", QKV_IN, 0, 3, axes_of_low_rank__Q},
    {"K", QKV_IN, 0, 3, axes_of_low_rank__K},
    {"U", QKV_IN, 0, 3, axes_of_low_rank__U},
    {"A", QKV_IN, 0, 3, axes_of_low_rank__A},
    {"O", QKV_OUT, 0, 3, axes_of_low_rank__O},
};
static const qkv_variant variants_low_rank[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_low_rank_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_low_rank_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_low_rank_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_low_rank_opencl, 0, 0},
};
static const qkv_kernel kernel_low_rank = {
    QKV_ABI, "low_rank", UINT64_C(3625036963004234287), 6, 5, 0, 4,
    axes_low_rank, arguments_low_rank, 0, variants_low_rank};

int qkv_low_rank(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4) {
  if (!a0 || !a1 || !a2 || !a3 || !a4) return qkv_call(&kernel_low_rank, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4};
  return qkv_call(&kernel_low_rank, a, 5, 0, 0);
}

static int in_order_linear(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], &last[0], a[4]};
  return code(b);
}
extern int qkv_code_linear_x86_64_v4_argv(void **);
static int enter_qkv_code_linear_x86_64_v4(void **a) { return in_order_linear(qkv_code_linear_x86_64_v4_argv, a); }
extern int qkv_code_linear_x86_64_v3_argv(void **);
static int enter_qkv_code_linear_x86_64_v3(void **a) { return in_order_linear(qkv_code_linear_x86_64_v3_argv, a); }
extern int qkv_code_linear_cuda_argv(void **);
static int enter_qkv_code_linear_cuda(void **a) { return in_order_linear(qkv_code_linear_cuda_argv, a); }
extern int qkv_code_linear_opencl_argv(void **);
static int enter_qkv_code_linear_opencl(void **a) { return in_order_linear(qkv_code_linear_opencl_argv, a); }
static const qkv_axis axes_linear[] = {
    {"heads", 8, 0},
    {"seq", -1, 1},
    {"d_k", 64, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
};
static const int32_t axes_of_linear__Q[] = {0, 1, 2};
static const int32_t axes_of_linear__K[] = {0, 3, 2};
static const int32_t axes_of_linear__V[] = {0, 3, 4};
static const int32_t axes_of_linear__O[] = {0, 1, 4};
static const qkv_argument arguments_linear[] = {
    {"Q", QKV_IN, 0, 3, axes_of_linear__Q},
    {"K", QKV_IN, 0, 3, axes_of_linear__K},
    {"V", QKV_IN, 0, 3, axes_of_linear__V},
    {"O", QKV_OUT, 0, 3, axes_of_linear__O},
};
static const qkv_variant variants_linear[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_linear_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_linear_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_linear_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_linear_opencl, 0, 0},
};
static const qkv_kernel kernel_linear = {
    QKV_ABI, "linear", UINT64_C(13590046196517569630), 5, 4, 0, 4,
    axes_linear, arguments_linear, 0, variants_linear};

int qkv_linear(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_linear, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_linear, a, 4, 0, 0);
}

static int in_order_landmarks(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return code(b);
}
extern int qkv_code_landmarks_x86_64_v4_argv(void **);
static int enter_qkv_code_landmarks_x86_64_v4(void **a) { return in_order_landmarks(qkv_code_landmarks_x86_64_v4_argv, a); }
extern int qkv_code_landmarks_x86_64_v3_argv(void **);
static int enter_qkv_code_landmarks_x86_64_v3(void **a) { return in_order_landmarks(qkv_code_landmarks_x86_64_v3_argv, a); }
extern int qkv_code_landmarks_cuda_argv(void **);
static int enter_qkv_code_landmarks_cuda(void **a) { return in_order_landmarks(qkv_code_landmarks_cuda_argv, a); }
extern int qkv_code_landmarks_opencl_argv(void **);
static int enter_qkv_code_landmarks_opencl(void **a) { return in_order_landmarks(qkv_code_landmarks_opencl_argv, a); }
static const qkv_axis axes_landmarks[] = {
    {"heads", 8, 0},
    {"seq", -1, 1},
    {"d_k", 64, 2},
    {"kv", -1, 1},
    {"d_v", 64, 4},
    {"l", 64, 5},
    {"segment", -1, 6},
};
static const int32_t axes_of_landmarks__Q[] = {0, 1, 2};
static const int32_t axes_of_landmarks__K[] = {0, 3, 2};
static const int32_t axes_of_landmarks__V[] = {0, 3, 4};
static const int32_t axes_of_landmarks__O[] = {0, 1, 4};
static const qkv_argument arguments_landmarks[] = {
    {"Q", QKV_IN, 0, 3, axes_of_landmarks__Q},
    {"K", QKV_IN, 0, 3, axes_of_landmarks__K},
    {"V", QKV_IN, 0, 3, axes_of_landmarks__V},
    {"O", QKV_OUT, 0, 3, axes_of_landmarks__O},
};
static const qkv_condition conditions_landmarks[] = {
    {QKV_PRODUCT, 1, 5, 6, "split<seq, l, segment>"},
};
static const qkv_variant variants_landmarks[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_landmarks_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_landmarks_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_landmarks_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_landmarks_opencl, 0, 0},
};
static const qkv_kernel kernel_landmarks = {
    QKV_ABI, "landmarks", UINT64_C(5135596281355194052), 7, 4, 1, 4,
    axes_landmarks, arguments_landmarks, conditions_landmarks, variants_landmarks};

int qkv_landmarks(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_landmarks, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_landmarks, a, 4, 0, 0);
}

static int in_order_cached(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[6], &last[0], a[5]};
  return code(b);
}
extern int qkv_code_cached_x86_64_v4_argv(void **);
static int enter_qkv_code_cached_x86_64_v4(void **a) { return in_order_cached(qkv_code_cached_x86_64_v4_argv, a); }
extern int qkv_code_cached_x86_64_v3_argv(void **);
static int enter_qkv_code_cached_x86_64_v3(void **a) { return in_order_cached(qkv_code_cached_x86_64_v3_argv, a); }
extern int qkv_code_cached_cuda_argv(void **);
static int enter_qkv_code_cached_cuda(void **a) { return in_order_cached(qkv_code_cached_cuda_argv, a); }
extern int qkv_code_cached_opencl_argv(void **);
static int enter_qkv_code_cached_opencl(void **a) { return in_order_cached(qkv_code_cached_opencl_argv, a); }
static const qkv_axis axes_cached[] = {
    {"heads", 8, 0},
    {"d_k", 64, 1},
    {"kv", -1, 3},
    {"seq", -1, 3},
    {"d_v", 64, 4},
};
static const int32_t axes_of_cached__q[] = {0, 1};
static const int32_t axes_of_cached__K[] = {0, 2, 1};
static const int32_t axes_of_cached__V[] = {0, 2, 4};
static const int32_t axes_of_cached__o[] = {0, 4};
static const qkv_argument arguments_cached[] = {
    {"q", QKV_IN, 0, 2, axes_of_cached__q},
    {"K", QKV_IN, 0, 3, axes_of_cached__K},
    {"V", QKV_IN, 0, 3, axes_of_cached__V},
    {"length", QKV_IN, 4, 0, 0},
    {"o", QKV_OUT, 0, 2, axes_of_cached__o},
};
static const qkv_variant variants_cached[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_cached_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_cached_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_cached_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_cached_opencl, 0, 0},
};
static const qkv_kernel kernel_cached = {
    QKV_ABI, "cached", UINT64_C(13079929457327499809), 5, 5, 0, 4,
    axes_cached, arguments_cached, 0, variants_cached};

int qkv_cached(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4) {
  if (!a0 || !a1 || !a2 || !a3 || !a4) return qkv_call(&kernel_cached, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4};
  return qkv_call(&kernel_cached, a, 5, 0, 0);
}

static int in_order_multi_query(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[6], &last[0], a[5]};
  return code(b);
}
extern int qkv_code_multi_query_x86_64_v4_argv(void **);
static int enter_qkv_code_multi_query_x86_64_v4(void **a) { return in_order_multi_query(qkv_code_multi_query_x86_64_v4_argv, a); }
extern int qkv_code_multi_query_x86_64_v3_argv(void **);
static int enter_qkv_code_multi_query_x86_64_v3(void **a) { return in_order_multi_query(qkv_code_multi_query_x86_64_v3_argv, a); }
extern int qkv_code_multi_query_cuda_argv(void **);
static int enter_qkv_code_multi_query_cuda(void **a) { return in_order_multi_query(qkv_code_multi_query_cuda_argv, a); }
extern int qkv_code_multi_query_opencl_argv(void **);
static int enter_qkv_code_multi_query_opencl(void **a) { return in_order_multi_query(qkv_code_multi_query_opencl_argv, a); }
static const qkv_axis axes_multi_query[] = {
    {"heads", 8, 0},
    {"d_k", 64, 1},
    {"kv", -1, 3},
    {"seq", -1, 3},
    {"d_v", 64, 4},
};
static const int32_t axes_of_multi_query__q[] = {0, 1};
static const int32_t axes_of_multi_query__K[] = {2, 1};
static const int32_t axes_of_multi_query__V[] = {2, 4};
static const int32_t axes_of_multi_query__o[] = {0, 4};
static const qkv_argument arguments_multi_query[] = {
    {"q", QKV_IN, 0, 2, axes_of_multi_query__q},
    {"K", QKV_IN, 0, 2, axes_of_multi_query__K},
    {"V", QKV_IN, 0, 2, axes_of_multi_query__V},
    {"length", QKV_IN, 4, 0, 0},
    {"o", QKV_OUT, 0, 2, axes_of_multi_query__o},
};
static const qkv_variant variants_multi_query[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_multi_query_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_multi_query_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_multi_query_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_multi_query_opencl, 0, 0},
};
static const qkv_kernel kernel_multi_query = {
    QKV_ABI, "multi_query", UINT64_C(2137628721461525082), 5, 5, 0, 4,
    axes_multi_query, arguments_multi_query, 0, variants_multi_query};

int qkv_multi_query(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4) {
  if (!a0 || !a1 || !a2 || !a3 || !a4) return qkv_call(&kernel_multi_query, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4};
  return qkv_call(&kernel_multi_query, a, 5, 0, 0);
}

const qkv_kernel *const qkv_library_costs_kernels[] = {&kernel_full_attention, &kernel_low_rank, &kernel_linear, &kernel_landmarks, &kernel_cached, &kernel_multi_query};

static qkv_library library = {"costs_kernels", qkv_library_costs_kernels, 6, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
