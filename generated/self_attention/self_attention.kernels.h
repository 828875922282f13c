/* self_attention_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_self_attention_kernels
#define QKV_LIBRARY_self_attention_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* self_attention
 *   in    Q[batch, heads=8, seq, d_k=64] f32
 *   in    K[batch, heads=8, kv, d_k=64] f32
 *   in    V[batch, heads=8, kv, d_v=64] f32
 *   out   O[batch, heads=8, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_self_attention(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* causal_attention
 *   in    Q[batch, heads=8, seq, d_k=64] f32
 *   in    K[batch, heads=8, kv, d_k=64] f32
 *   in    V[batch, heads=8, kv, d_v=64] f32
 *   out   O[batch, heads=8, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_causal_attention(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* The tables of all kernels above, 2 of them. */
extern const qkv_kernel *const qkv_library_self_attention_kernels[];

#ifdef __cplusplus
}
#endif
#endif
