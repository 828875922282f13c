/* luong_bahdanau_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_luong_bahdanau_kernels
#define QKV_LIBRARY_luong_bahdanau_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* dot_attention
 *   in    h[batch, step, d_h=64] f32
 *   in    s[batch, source, d_h=64] f32
 *   in    length[batch] i32
 *   out   context[batch, step, d_h=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_dot_attention(const qkv_tensor *h, const qkv_tensor *s, const qkv_tensor *length, const qkv_tensor *context);

/* general_attention
 *   in    h[batch, step, d_h=64] f32
 *   in    s[batch, source, d_s=64] f32
 *   in    length[batch] i32
 *   param W[d_h=64, d_s=64] f32
 *   out   context[batch, step, d_s=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_general_attention(const qkv_tensor *h, const qkv_tensor *s, const qkv_tensor *length, const qkv_tensor *W, const qkv_tensor *context);

/* concat_attention
 *   in    h[batch, step, d_h=64] f32
 *   in    s[batch, source, d_s=64] f32
 *   in    length[batch] i32
 *   param W[both=128, hidden=64] f32
 *   param v[hidden=64] f32
 *   out   context[batch, step, d_s=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_concat_attention(const qkv_tensor *h, const qkv_tensor *s, const qkv_tensor *length, const qkv_tensor *W, const qkv_tensor *v, const qkv_tensor *context);

/* additive_attention
 *   in    h[batch, step, d_h=64] f32
 *   in    s[batch, source, d_s=64] f32
 *   in    length[batch] i32
 *   param W[d_h=64, hidden=64] f32
 *   param U[d_s=64, hidden=64] f32
 *   param v[hidden=64] f32
 *   out   context[batch, step, d_s=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_additive_attention(const qkv_tensor *h, const qkv_tensor *s, const qkv_tensor *length, const qkv_tensor *W, const qkv_tensor *U, const qkv_tensor *v, const qkv_tensor *context);

/* The tables of all kernels above, 4 of them. */
extern const qkv_kernel *const qkv_library_luong_bahdanau_kernels[];

#ifdef __cplusplus
}
#endif
#endif
