/* encoder_decoder_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_encoder_decoder_kernels
#define QKV_LIBRARY_encoder_decoder_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* encoder_layer
 *   in    X[batch, source, d_model=64] f32
 *   in    source_length[batch] i32
 *   param Wq[d_model=64, heads=4, d_k=16] f32
 *   param Wk[d_model=64, heads=4, d_k=16] f32
 *   param Wv[d_model=64, heads=4, d_v=16] f32
 *   param Wo[heads=4, d_v=16, d_model=64] f32
 *   param gamma1[d_model=64] f32
 *   param beta1[d_model=64] f32
 *   param W1[d_model=64, d_ff=128] f32
 *   param b1[d_ff=128] f32
 *   param W2[d_ff=128, d_model=64] f32
 *   param b2[d_model=64] f32
 *   param gamma2[d_model=64] f32
 *   param beta2[d_model=64] f32
 *   out   Y[batch, source, d_model=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_encoder_layer(const qkv_tensor *X, const qkv_tensor *source_length, const qkv_tensor *Wq, const qkv_tensor *Wk, const qkv_tensor *Wv, const qkv_tensor *Wo, const qkv_tensor *gamma1, const qkv_tensor *beta1, const qkv_tensor *W1, const qkv_tensor *b1, const qkv_tensor *W2, const qkv_tensor *b2, const qkv_tensor *gamma2, const qkv_tensor *beta2, const qkv_tensor *Y);

/* decoder_layer
 *   in    X[batch, target, d_model=64] f32
 *   in    E[batch, source, d_model=64] f32
 *   in    source_length[batch] i32
 *   param Wq[d_model=64, heads=4, d_k=16] f32
 *   param Wk[d_model=64, heads=4, d_k=16] f32
 *   param Wv[d_model=64, heads=4, d_v=16] f32
 *   param Wo[heads=4, d_v=16, d_model=64] f32
 *   param gamma1[d_model=64] f32
 *   param beta1[d_model=64] f32
 *   param Cq[d_model=64, heads=4, d_k=16] f32
 *   param Ck[d_model=64, heads=4, d_k=16] f32
 *   param Cv[d_model=64, heads=4, d_v=16] f32
 *   param Co[heads=4, d_v=16, d_model=64] f32
 *   param gamma2[d_model=64] f32
 *   param beta2[d_model=64] f32
 *   param W1[d_model=64, d_ff=128] f32
 *   param b1[d_ff=128] f32
 *   param W2[d_ff=128, d_model=64] f32
 *   param b2[d_model=64] f32
 *   param gamma3[d_model=64] f32
 *   param beta3[d_model=64] f32
 *   out   Y[batch, target, d_model=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_decoder_layer(const qkv_tensor *X, const qkv_tensor *E, const qkv_tensor *source_length, const qkv_tensor *Wq, const qkv_tensor *Wk, const qkv_tensor *Wv, const qkv_tensor *Wo, const qkv_tensor *gamma1, const qkv_tensor *beta1, const qkv_tensor *Cq, const qkv_tensor *Ck, const qkv_tensor *Cv, const qkv_tensor *Co, const qkv_tensor *gamma2, const qkv_tensor *beta2, const qkv_tensor *W1, const qkv_tensor *b1, const qkv_tensor *W2, const qkv_tensor *b2, const qkv_tensor *gamma3, const qkv_tensor *beta3, const qkv_tensor *Y);

/* keys_and_values
 *   in    X[batch, row, d_model=64] f32
 *   param Wk[d_model=64, heads=4, d_k=16] f32
 *   param Wv[d_model=64, heads=4, d_v=16] f32
 *   out   K[batch, heads=4, row, d_k=16] f32
 *   out   V[batch, heads=4, row, d_v=16] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_keys_and_values(const qkv_tensor *X, const qkv_tensor *Wk, const qkv_tensor *Wv, const qkv_tensor *K, const qkv_tensor *V);

/* decoder_step
 *   in    X[batch, token=1, d_model=64] f32
 *   in    K[batch, heads=4, slots, d_k=16] f32
 *   in    V[batch, heads=4, slots, d_v=16] f32
 *   in    length[batch] i32
 *   in    source_K[batch, heads=4, source, d_k=16] f32
 *   in    source_V[batch, heads=4, source, d_v=16] f32
 *   in    source_length[batch] i32
 *   param Wq[d_model=64, heads=4, d_k=16] f32
 *   param Wo[heads=4, d_v=16, d_model=64] f32
 *   param gamma1[d_model=64] f32
 *   param beta1[d_model=64] f32
 *   param Cq[d_model=64, heads=4, d_k=16] f32
 *   param Co[heads=4, d_v=16, d_model=64] f32
 *   param gamma2[d_model=64] f32
 *   param beta2[d_model=64] f32
 *   param W1[d_model=64, d_ff=128] f32
 *   param b1[d_ff=128] f32
 *   param W2[d_ff=128, d_model=64] f32
 *   param b2[d_model=64] f32
 *   param gamma3[d_model=64] f32
 *   param beta3[d_model=64] f32
 *   out   Y[batch, token=1, d_model=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_decoder_step(const qkv_tensor *X, const qkv_tensor *K, const qkv_tensor *V, const qkv_tensor *length, const qkv_tensor *source_K, const qkv_tensor *source_V, const qkv_tensor *source_length, const qkv_tensor *Wq, const qkv_tensor *Wo, const qkv_tensor *gamma1, const qkv_tensor *beta1, const qkv_tensor *Cq, const qkv_tensor *Co, const qkv_tensor *gamma2, const qkv_tensor *beta2, const qkv_tensor *W1, const qkv_tensor *b1, const qkv_tensor *W2, const qkv_tensor *b2, const qkv_tensor *gamma3, const qkv_tensor *beta3, const qkv_tensor *Y);

/* The tables of all kernels above, 4 of them. */
extern const qkv_kernel *const qkv_library_encoder_decoder_kernels[];

#ifdef __cplusplus
}
#endif
#endif
