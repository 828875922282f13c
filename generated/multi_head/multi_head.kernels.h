/* multi_head_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_multi_head_kernels
#define QKV_LIBRARY_multi_head_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* mha
 *   in    X[batch, seq, d_model=512] f32
 *   param Wq[d_model=512, heads=8, d_k=64] f32
 *   param Wk[d_model=512, heads=8, d_k=64] f32
 *   param Wv[d_model=512, heads=8, d_v=64] f32
 *   param Wo[heads=8, d_v=64, d_model=512] f32
 *   param bo[d_model=512] f32
 *   out   Y[batch, seq, d_model=512] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_mha(const qkv_tensor *X, const qkv_tensor *Wq, const qkv_tensor *Wk, const qkv_tensor *Wv, const qkv_tensor *Wo, const qkv_tensor *bo, const qkv_tensor *Y);

/* mha_in_seven_steps
 *   in    X[batch, seq, d_model=512] f32
 *   param Wq[d_model=512, d_attn=512] f32
 *   param Wk[d_model=512, d_attn=512] f32
 *   param Wv[d_model=512, d_attn=512] f32
 *   param Wo[d_attn=512, d_model=512] f32
 *   param bo[d_model=512] f32
 *   out   Y[batch, seq, d_model=512] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_mha_in_seven_steps(const qkv_tensor *X, const qkv_tensor *Wq, const qkv_tensor *Wk, const qkv_tensor *Wv, const qkv_tensor *Wo, const qkv_tensor *bo, const qkv_tensor *Y);

/* The tables of all kernels above, 2 of them. */
extern const qkv_kernel *const qkv_library_multi_head_kernels[];

#ifdef __cplusplus
}
#endif
#endif
