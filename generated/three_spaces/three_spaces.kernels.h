/* three_spaces_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_three_spaces_kernels
#define QKV_LIBRARY_three_spaces_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* cross
 *   in    X[batch, seq, d_query=48] f32
 *   in    E[batch, mem, d_key=40] f32
 *   in    F[batch, mem, d_value=56] f32
 *   param Wq[d_query=48, heads=4, d_k=16] f32
 *   param bq[heads=4, d_k=16] f32
 *   param Wk[d_key=40, heads=4, d_k=16] f32
 *   param bk[heads=4, d_k=16] f32
 *   param Wv[d_value=56, heads=4, d_v=24] f32
 *   param bv[heads=4, d_v=24] f32
 *   param Wo[heads=4, d_v=24, d_out=80] f32
 *   out   Y[batch, seq, d_out=80] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_cross(const qkv_tensor *X, const qkv_tensor *E, const qkv_tensor *F, const qkv_tensor *Wq, const qkv_tensor *bq, const qkv_tensor *Wk, const qkv_tensor *bk, const qkv_tensor *Wv, const qkv_tensor *bv, const qkv_tensor *Wo, const qkv_tensor *Y);

/* The tables of all kernels above, 1 of them. */
extern const qkv_kernel *const qkv_library_three_spaces_kernels[];

#ifdef __cplusplus
}
#endif
#endif
