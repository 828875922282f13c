/* ring_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_ring_kernels
#define QKV_LIBRARY_ring_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* attention
 *   in    Q[heads=4, seq, d_k=32] f32
 *   in    K[heads=4, kv, d_k=32] f32
 *   in    V[heads=4, kv, d_k=32] f32
 *   out   O[heads=4, seq, d_k=32] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_attention(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* attention_hop0
 *   in    first_seq[] i32
 *   in    first_kv[] i32
 *   in    first_heads[] i32
 *   in    before_sum11[heads, seq, d_k=32] f32
 *   in    before_lse10[heads, seq] f32
 *   in    Q[heads, seq, d_k=32] f32
 *   in    K[heads, kv, d_k=32] f32
 *   in    V[heads, kv, d_k=32] f32
 *   out   sum11[heads, seq, d_k=32] f32
 *   out   lse10[heads, seq] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_attention_hop0(const qkv_tensor *first_seq, const qkv_tensor *first_kv, const qkv_tensor *first_heads, const qkv_tensor *before_sum11, const qkv_tensor *before_lse10, const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *sum11, const qkv_tensor *lse10);

/* attention_merge0
 *   in    before_sum11[heads, seq, d_k=32] f32
 *   in    before_lse10[heads, seq] f32
 *   in    with_sum11[heads, seq, d_k=32] f32
 *   in    with_lse10[heads, seq] f32
 *   out   sum11[heads, seq, d_k=32] f32
 *   out   lse10[heads, seq] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_attention_merge0(const qkv_tensor *before_sum11, const qkv_tensor *before_lse10, const qkv_tensor *with_sum11, const qkv_tensor *with_lse10, const qkv_tensor *sum11, const qkv_tensor *lse10);

/* attention_seen0
 *   in    Q[heads, seq, d_k=32] f32
 *   in    K[heads, kv, d_k=32] f32
 *   in    first_kv[] i32
 *   in    first_seq[] i32
 *   out   seen_pairs[] f64
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_attention_seen0(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *first_kv, const qkv_tensor *first_seq, const qkv_tensor *seen_pairs);

/* attention_own1
 *   in    sum11[heads=4, seq, d_k=32] f32
 *   out   O[heads=4, seq, d_k=32] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_attention_own1(const qkv_tensor *sum11, const qkv_tensor *O);

/* The tables of all kernels above, 5 of them. */
extern const qkv_kernel *const qkv_library_ring_kernels[];

#ifdef __cplusplus
}
#endif
#endif
