/* score_functions_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_score_functions_kernels
#define QKV_LIBRARY_score_functions_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* with_alibi
 *   in    Q[heads=4, seq, d_k=16] f32
 *   in    K[heads=4, kv, d_k=16] f32
 *   in    V[kv, d_v=32] f32
 *   out   O[heads=4, seq, d_v=32] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_with_alibi(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* with_softcap
 *   in    Q[heads=4, seq, d_k=16] f32
 *   in    K[heads=4, kv, d_k=16] f32
 *   in    V[kv, d_v=32] f32
 *   in    cap[heads=4] f32
 *   out   O[heads=4, seq, d_v=32] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_with_softcap(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *cap, const qkv_tensor *O);

/* with_window
 *   in    Q[heads=4, seq, d_k=16] f32
 *   in    K[heads=4, kv, d_k=16] f32
 *   in    V[kv, d_v=32] f32
 *   out   O[heads=4, seq, d_v=32] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_with_window(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *O);

/* with_documents
 *   in    Q[heads=4, seq, d_k=16] f32
 *   in    K[heads=4, kv, d_k=16] f32
 *   in    V[kv, d_v=32] f32
 *   in    document[seq] i32
 *   out   O[heads=4, seq, d_v=32] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_with_documents(const qkv_tensor *Q, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *document, const qkv_tensor *O);

/* The tables of all kernels above, 4 of them. */
extern const qkv_kernel *const qkv_library_score_functions_kernels[];

#ifdef __cplusplus
}
#endif
#endif
