/* self_attention_kernels: written by the code generator. */
#include "self_attention_kernels.kernels.h"

static inline int32_t last_position(const void *size) {
  const int32_t n = *(const int32_t *)size;
  return n > 1 ? n - 1 : 0;
}

extern int qkv_code_self_attention_host_argv(void **);
static int enter_qkv_code_self_attention_host(void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return qkv_code_self_attention_host_argv(b);
}
extern int qkv_code_self_attention_cuda_argv(void **);
static int enter_qkv_code_self_attention_cuda(void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return qkv_code_self_attention_cuda_argv(b);
}
extern int qkv_code_self_attention_opencl_argv(void **);
static int enter_qkv_code_self_attention_opencl(void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return qkv_code_self_attention_opencl_argv(b);
}
static const qkv_axis axes_self_attention[] = {
    {"batch", -1, 0},
    {"heads", 8, 1},
    {"seq", -1, 2},
    {"d_k", 64, 3},
    {"kv", -1, 2},
    {"d_v", 64, 5},
};
static const int32_t axes_of_self_attention__Q[] = {0, 1, 2, 3};
static const int32_t axes_of_self_attention__K[] = {0, 1, 4, 3};
static const int32_t axes_of_self_attention__V[] = {0, 1, 4, 5};
static const int32_t axes_of_self_attention__O[] = {0, 1, 2, 5};
static const qkv_argument arguments_self_attention[] = {
    {"Q", QKV_IN, 0, 4, axes_of_self_attention__Q, -1},
    {"K", QKV_IN, 0, 4, axes_of_self_attention__K, -1},
    {"V", QKV_IN, 0, 4, axes_of_self_attention__V, -1},
    {"O", QKV_OUT, 0, 4, axes_of_self_attention__O, -1},
};
static const qkv_kernel kernel_self_attention = {
    QKV_ABI, "self_attention", UINT64_C(3971485140726641288), 6, 4, 0, 0,
    axes_self_attention, arguments_self_attention, 0, 0,
    enter_qkv_code_self_attention_host, enter_qkv_code_self_attention_cuda, enter_qkv_code_self_attention_opencl};

int qkv_self_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_self_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_self_attention, a, 4, 0, 0);
}

extern int qkv_code_causal_attention_host_argv(void **);
static int enter_qkv_code_causal_attention_host(void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return qkv_code_causal_attention_host_argv(b);
}
extern int qkv_code_causal_attention_cuda_argv(void **);
static int enter_qkv_code_causal_attention_cuda(void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return qkv_code_causal_attention_cuda_argv(b);
}
extern int qkv_code_causal_attention_opencl_argv(void **);
static int enter_qkv_code_causal_attention_opencl(void **a) {
  int32_t last[] = {last_position(a[5]), last_position(a[6])};
  void *b[] = {a[0], a[1], a[2], a[3], a[5], a[6], &last[0], &last[1], a[4]};
  return qkv_code_causal_attention_opencl_argv(b);
}
static const qkv_axis axes_causal_attention[] = {
    {"batch", -1, 0},
    {"heads", 8, 1},
    {"seq", -1, 2},
    {"d_k", 64, 3},
    {"kv", -1, 2},
    {"d_v", 64, 5},
};
static const int32_t axes_of_causal_attention__Q[] = {0, 1, 2, 3};
static const int32_t axes_of_causal_attention__K[] = {0, 1, 4, 3};
static const int32_t axes_of_causal_attention__V[] = {0, 1, 4, 5};
static const int32_t axes_of_causal_attention__O[] = {0, 1, 2, 5};
static const qkv_argument arguments_causal_attention[] = {
    {"Q", QKV_IN, 0, 4, axes_of_causal_attention__Q, -1},
    {"K", QKV_IN, 0, 4, axes_of_causal_attention__K, -1},
    {"V", QKV_IN, 0, 4, axes_of_causal_attention__V, -1},
    {"O", QKV_OUT, 0, 4, axes_of_causal_attention__O, -1},
};
static const qkv_kernel kernel_causal_attention = {
    QKV_ABI, "causal_attention", UINT64_C(18260755677301129849), 6, 4, 0, 0,
    axes_causal_attention, arguments_causal_attention, 0, 0,
    enter_qkv_code_causal_attention_host, enter_qkv_code_causal_attention_cuda, enter_qkv_code_causal_attention_opencl};

int qkv_causal_attention(const qkv_tensor *a0, const qkv_tensor *a1, const qkv_tensor *a2, const qkv_tensor *a3) {
  if (!a0 || !a1 || !a2 || !a3) return qkv_call(&kernel_causal_attention, 0, 0, 0, 0);
  const qkv_tensor a[] = {*a0, *a1, *a2, *a3};
  return qkv_call(&kernel_causal_attention, a, 4, 0, 0);
}

const qkv_kernel *const qkv_library_self_attention_kernels[] = {&kernel_self_attention, &kernel_causal_attention};

static qkv_library library = {"self_attention_kernels", qkv_library_self_attention_kernels, 2, 0, 0};
__attribute__((constructor(101))) static void loaded(void) { qkv_register_library(&library); }
__attribute__((destructor(101))) static void unloaded(void) { qkv_unregister_library(&library); }
