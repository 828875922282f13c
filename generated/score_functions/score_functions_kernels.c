/* score_functions_kernels: written by the code generator. */
#include "score_functions_kernels.kernels.h"

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

static int in_order_with_alibi(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], &last[0], a[4]};
  return code(b);
}
extern int qkv_code_with_alibi_x86_64_v4_argv(void **);
static int enter_qkv_code_with_alibi_x86_64_v4(void **a) { return in_order_with_alibi(qkv_code_with_alibi_x86_64_v4_argv, a); }
extern int qkv_code_with_alibi_x86_64_v3_argv(void **);
static int enter_qkv_code_with_alibi_x86_64_v3(void **a) { return in_order_with_alibi(qkv_code_with_alibi_x86_64_v3_argv, a); }
extern int qkv_code_with_alibi_cuda_argv(void **);
static int enter_qkv_code_with_alibi_cuda(void **a) { return in_order_with_alibi(qkv_code_with_alibi_cuda_argv, a); }
extern int qkv_code_with_alibi_opencl_argv(void **);
static int enter_qkv_code_with_alibi_opencl(void **a) { return in_order_with_alibi(qkv_code_with_alibi_opencl_argv, a); }
static const qkv_axis axes_with_alibi[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 16, 2},
    {"kv", -1, 1},
    {"d_v", 32, 4},
};
static const int32_t axes_of_with_alibi__Q[] = {0, 1, 2};
static const int32_t axes_of_with_alibi__K[] = {0, 3, 2};
static const int32_t axes_of_with_alibi__V[] = {3, 4};
static const int32_t axes_of_with_alibi__O[] = {0, 1, 4};
static const qkv_argument arguments_with_alibi[] = {
    {"Q", QKV_IN, 0, 3, axes_of_with_alibi__Q},
    {"K", QKV_IN, 0, 3, axes_of_with_alibi__K},
    {"V", QKV_IN, 0, 2, axes_of_with_alibi__V},
    {"O", QKV_OUT, 0, 3, axes_of_with_alibi__O},
};
static const qkv_variant variants_with_alibi[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_with_alibi_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_with_alibi_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_with_alibi_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_with_alibi_opencl, 0, 0},
};
static const qkv_kernel kernel_with_alibi = {
    QKV_ABI, "with_alibi", UINT64_C(2601273136788966825), 5, 4, 0, 4,
    axes_with_alibi, arguments_with_alibi, 0, variants_with_alibi};

int qkv_with_alibi(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_with_alibi, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_with_alibi, a, 4, 0, 0);
}

static int in_order_with_softcap(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[6], &last[0], a[5]};
  return code(b);
}
extern int qkv_code_with_softcap_x86_64_v4_argv(void **);
static int enter_qkv_code_with_softcap_x86_64_v4(void **a) { return in_order_with_softcap(qkv_code_with_softcap_x86_64_v4_argv, a); }
extern int qkv_code_with_softcap_x86_64_v3_argv(void **);
static int enter_qkv_code_with_softcap_x86_64_v3(void **a) { return in_order_with_softcap(qkv_code_with_softcap_x86_64_v3_argv, a); }
extern int qkv_code_with_softcap_cuda_argv(void **);
static int enter_qkv_code_with_softcap_cuda(void **a) { return in_order_with_softcap(qkv_code_with_softcap_cuda_argv, a); }
extern int qkv_code_with_softcap_opencl_argv(void **);
static int enter_qkv_code_with_softcap_opencl(void **a) { return in_order_with_softcap(qkv_code_with_softcap_opencl_argv, a); }
static const qkv_axis axes_with_softcap[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 16, 2},
    {"kv", -1, 1},
    {"d_v", 32, 4},
};
static const int32_t axes_of_with_softcap__Q[] = {0, 1, 2};
static const int32_t axes_of_with_softcap__K[] = {0, 3, 2};
static const int32_t axes_of_with_softcap__V[] = {3, 4};
static const int32_t axes_of_with_softcap__cap[] = {0};
static const int32_t axes_of_with_softcap__O[] = {0, 1, 4};
static const qkv_argument arguments_with_softcap[] = {
    {"Q", QKV_IN, 0, 3, axes_of_with_softcap__Q},
    {"K", QKV_IN, 0, 3, axes_of_with_softcap__K},
    {"V", QKV_IN, 0, 2, axes_of_with_softcap__V},
    {"cap", QKV_IN, 0, 1, axes_of_with_softcap__cap},
    {"O", QKV_OUT, 0, 3, axes_of_with_softcap__O},
};
static const qkv_variant variants_with_softcap[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_with_softcap_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_with_softcap_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_with_softcap_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_with_softcap_opencl, 0, 0},
};
static const qkv_kernel kernel_with_softcap = {
    QKV_ABI, "with_softcap", UINT64_C(16333826168047974672), 5, 5, 0, 4,
    axes_with_softcap, arguments_with_softcap, 0, variants_with_softcap};

int qkv_with_softcap(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4) {
  if (!a0 || !a1 || !a2 || !a3 || !a4) return qkv_call(&kernel_with_softcap, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4};
  return qkv_call(&kernel_with_softcap, a, 5, 0, 0);
}

static int in_order_with_window(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[5])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], &last[0], a[4]};
  return code(b);
}
extern int qkv_code_with_window_x86_64_v4_argv(void **);
static int enter_qkv_code_with_window_x86_64_v4(void **a) { return in_order_with_window(qkv_code_with_window_x86_64_v4_argv, a); }
extern int qkv_code_with_window_x86_64_v3_argv(void **);
static int enter_qkv_code_with_window_x86_64_v3(void **a) { return in_order_with_window(qkv_code_with_window_x86_64_v3_argv, a); }
extern int qkv_code_with_window_cuda_argv(void **);
static int enter_qkv_code_with_window_cuda(void **a) { return in_order_with_window(qkv_code_with_window_cuda_argv, a); }
extern int qkv_code_with_window_opencl_argv(void **);
static int enter_qkv_code_with_window_opencl(void **a) { return in_order_with_window(qkv_code_with_window_opencl_argv, a); }
static const qkv_axis axes_with_window[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 16, 2},
    {"kv", -1, 1},
    {"d_v", 32, 4},
};
static const int32_t axes_of_with_window__Q[] = {0, 1, 2};
static const int32_t axes_of_with_window__K[] = {0, 3, 2};
static const int32_t axes_of_with_window__V[] = {3, 4};
static const int32_t axes_of_with_window__O[] = {0, 1, 4};
static const qkv_argument arguments_with_window[] = {
    {"Q", QKV_IN, 0, 3, axes_of_with_window__Q},
    {"K", QKV_IN, 0, 3, axes_of_with_window__K},
    {"V", QKV_IN, 0, 2, axes_of_with_window__V},
    {"O", QKV_OUT, 0, 3, axes_of_with_window__O},
};
static const qkv_variant variants_with_window[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_with_window_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_with_window_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_with_window_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_with_window_opencl, 0, 0},
};
static const qkv_kernel kernel_with_window = {
    QKV_ABI, "with_window", UINT64_C(16378044331725869797), 5, 4, 0, 4,
    axes_with_window, arguments_with_window, 0, variants_with_window};

int qkv_with_window(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_with_window, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_with_window, a, 4, 0, 0);
}

static int in_order_with_documents(int (*code)(void **), void **a) {
  int32_t last[] = {last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[4], a[6], &last[0], a[5]};
  return code(b);
}
extern int qkv_code_with_documents_x86_64_v4_argv(void **);
static int enter_qkv_code_with_documents_x86_64_v4(void **a) { return in_order_with_documents(qkv_code_with_documents_x86_64_v4_argv, a); }
extern int qkv_code_with_documents_x86_64_v3_argv(void **);
static int enter_qkv_code_with_documents_x86_64_v3(void **a) { return in_order_with_documents(qkv_code_with_documents_x86_64_v3_argv, a); }
extern int qkv_code_with_documents_cuda_argv(void **);
static int enter_qkv_code_with_documents_cuda(void **a) { return in_order_with_documents(qkv_code_with_documents_cuda_argv, a); }
extern int qkv_code_with_documents_opencl_argv(void **);
static int enter_qkv_code_with_documents_opencl(void **a) { return in_order_with_documents(qkv_code_with_documents_opencl_argv, a); }
static const qkv_axis axes_with_documents[] = {
    {"heads", 4, 0},
    {"seq", -1, 1},
    {"d_k", 16, 2},
    {"kv", -1, 1},
    {"d_v", 32, 4},
};
static const int32_t axes_of_with_documents__Q[] = {0, 1, 2};
static const int32_t axes_of_with_documents__K[] = {0, 3, 2};
static const int32_t axes_of_with_documents__V[] = {3, 4};
static const int32_t axes_of_with_documents__document[] = {1};
static const int32_t axes_of_with_documents__O[] = {0, 1, 4};
static const qkv_argument arguments_with_documents[] = {
    {"Q", QKV_IN, 0, 3, axes_of_with_documents__Q},
    {"K", QKV_IN, 0, 3, axes_of_with_documents__K},
    {"V", QKV_IN, 0, 2, axes_of_with_documents__V},
    {"document", QKV_IN, 4, 1, axes_of_with_documents__document},
    {"O", QKV_OUT, 0, 3, axes_of_with_documents__O},
};
static const qkv_variant variants_with_documents[] = {
    {"x86-64-v4", "host", can_run_x86_64_v4, enter_qkv_code_with_documents_x86_64_v4, 0, 0},
    {"x86-64-v3", "host", can_run_x86_64_v3, enter_qkv_code_with_documents_x86_64_v3, 0, 0},
    {"cuda", "cuda", can_run_cuda, enter_qkv_code_with_documents_cuda, 0, 0},
    {"opencl", "opencl", can_run_opencl, enter_qkv_code_with_documents_opencl, 0, 0},
};
static const qkv_kernel kernel_with_documents = {
    QKV_ABI, "with_documents", UINT64_C(15264619884796031952), 5, 5, 0, 4,
    axes_with_documents, arguments_with_documents, 0, variants_with_documents};

int qkv_with_documents(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3, const qkv_tensor *a4) {
  if (!a0 || !a1 || !a2 || !a3 || !a4) return qkv_call(&kernel_with_documents, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3, *a4};
  return qkv_call(&kernel_with_documents, a, 5, 0, 0);
}

const qkv_kernel *const qkv_library_score_functions_kernels[] = {&kernel_with_alibi, &kernel_with_softcap, &kernel_with_window, &kernel_with_documents};

static qkv_library library = {"score_functions_kernels", qkv_library_score_functions_kernels, 4, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }

#ifdef __cplusplus
}
#endif
