/* nystrom_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_nystrom_kernels
#define QKV_LIBRARY_nystrom_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* full
 *   in    Q[heads=4, seq, d_k=32] f32
 *   in    K[heads=4, kv, d_k=32] f32
 *   in    V[heads=4, kv, d_v=64] f32
 *   out   O[heads=4, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_full(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* landmarks_8
 *   in    Q[heads=4, seq, d_k=32] f32
 *   in    K[heads=4, kv, d_k=32] f32
 *   in    V[heads=4, kv, d_v=64] f32
 *   out   O[heads=4, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_landmarks_8(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* landmarks_16
 *   in    Q[heads=4, seq, d_k=32] f32
 *   in    K[heads=4, kv, d_k=32] f32
 *   in    V[heads=4, kv, d_v=64] f32
 *   out   O[heads=4, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_landmarks_16(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* landmarks_32
 *   in    Q[heads=4, seq, d_k=32] f32
 *   in    K[heads=4, kv, d_k=32] f32
 *   in    V[heads=4, kv, d_v=64] f32
 *   out   O[heads=4, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_landmarks_32(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* landmarks_64
 *   in    Q[heads=4, seq, d_k=32] f32
 *   in    K[heads=4, kv, d_k=32] f32
 *   in    V[heads=4, kv, d_v=64] f32
 *   out   O[heads=4, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_landmarks_64(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* random_features
 *   in    Q[heads=4, seq, d_k=32] f32
 *   in    K[heads=4, kv, d_k=32] f32
 *   in    V[heads=4, kv, d_v=64] f32
 *   param W[feature, d_k=32] f32
 *   out   O[heads=4, seq, d_v=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_random_features(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *W, const qkv_tensor *O);

/* The tables of all kernels above, 6 of them. */
extern const qkv_kernel *const qkv_library_nystrom_kernels[];

#ifdef __cplusplus
}
#endif
#endif
