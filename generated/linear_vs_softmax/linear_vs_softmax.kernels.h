/* linear_vs_softmax_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_linear_vs_softmax_kernels
#define QKV_LIBRARY_linear_vs_softmax_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* softmax_attention
 *   in    Q[heads=8, seq, d_k=64] f32
 *   in    K[heads=8, kv, d_k=64] f32
 *   in    V[heads=8, kv, d_v=64] f32
 *   out   O[heads=8, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_softmax_attention(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* linear_attention
 *   in    Q[heads=8, seq, d_k=64] f32
 *   in    K[heads=8, kv, d_k=64] f32
 *   in    V[heads=8, kv, d_v=64] f32
 *   out   O[heads=8, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_linear_attention(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* The tables of all kernels above, 2 of them. */
extern const qkv_kernel *const qkv_library_linear_vs_softmax_kernels[];

#ifdef __cplusplus
}
#endif
#endif
