/* scaling_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_scaling_kernels
#define QKV_LIBRARY_scaling_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* scaling
 *   in    Q[query, d_k] f32
 *   in    K[key, d_k] f32
 *   out   variance[] f32
 *   out   scaled_variance[] f32
 *   out   largest[query] f32
 *   out   scaled_largest[query] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_scaling(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *variance, const qkv_tensor *scaled_variance, const qkv_tensor *largest, const qkv_tensor *scaled_largest);

/* The tables of all kernels above, 1 of them. */
extern const qkv_kernel *const qkv_library_scaling_kernels[];

#ifdef __cplusplus
}
#endif
#endif
