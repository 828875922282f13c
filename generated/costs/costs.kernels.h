/* costs_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_costs_kernels
#define QKV_LIBRARY_costs_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* full_attention
 *   in    Q[heads=8, seq, d_k=64] f32
 *   in    K[heads=8, kv, d_k=64] f32
 *   in    V[heads=8, kv, d_v=64] f32
 *   out   O[heads=8, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_full_attention(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* low_rank
 *   in    Q[heads=8, seq, d_k=64] f32
 *   in    K[heads=8, kv, d_k=64] f32
 *   in    U[heads=8, kv, r=8] f32
 *   in    A[heads=8, r=8, d_v=64] f32
 *   out   O[heads=8, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_low_rank(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *U, const qkv_tensor *A, const qkv_tensor *O);

/* linear
 *   in    Q[heads=8, seq, d_k=64] f32
 *   in    K[heads=8, kv, d_k=64] f32
 *   in    V[heads=8, kv, d_v=64] f32
 *   out   O[heads=8, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_linear(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* landmarks
 *   in    Q[heads=8, seq, d_k=64] f32
 *   in    K[heads=8, kv, d_k=64] f32
 *   in    V[heads=8, kv, d_v=64] f32
 *   out   O[heads=8, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_landmarks(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* cached
 *   in    q[heads=8, d_k=64] f32
 *   in    K[heads=8, kv, d_k=64] f32
 *   in    V[heads=8, kv, d_v=64] f32
 *   in    length[] i32
 *   out   o[heads=8, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_cached(const qkv_tensor *q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *length, const qkv_tensor *o);

/* multi_query
 *   in    q[heads=8, d_k=64] f32
 *   in    K[kv, d_k=64] f32
 *   in    V[kv, d_v=64] f32
 *   in    length[] i32
 *   out   o[heads=8, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_multi_query(const qkv_tensor *q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *length, const qkv_tensor *o);

/* The tables of all kernels above, 6 of them. */
extern const qkv_kernel *const qkv_library_costs_kernels[];

#ifdef __cplusplus
}
#endif
#endif
