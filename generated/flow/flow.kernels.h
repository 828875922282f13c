/* flow_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_flow_kernels
#define QKV_LIBRARY_flow_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* flow
 *   in    X[token, xy=2] f32
 *   in    beta[] f32
 *   in    rate[] f32
 *   out   X1[token, xy=2] f32
 *   out   X2[token, xy=2] f32
 *   out   X3[token, xy=2] f32
 *   out   X4[token, xy=2] f32
 *   out   X5[token, xy=2] f32
 *   out   X6[token, xy=2] f32
 *   out   X7[token, xy=2] f32
 *   out   X8[token, xy=2] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_flow(const qkv_tensor *X, const qkv_tensor *beta, const qkv_tensor *rate, const qkv_tensor *X1, const qkv_tensor *X2, const qkv_tensor *X3, const qkv_tensor *X4, const qkv_tensor *X5, const qkv_tensor *X6, const qkv_tensor *X7, const qkv_tensor *X8);

/* The tables of all kernels above, 1 of them. */
extern const qkv_kernel *const qkv_library_flow_kernels[];

#ifdef __cplusplus
}
#endif
#endif
