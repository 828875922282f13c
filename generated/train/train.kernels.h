/* train_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_train_kernels
#define QKV_LIBRARY_train_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* model
 *   in    tokens[batch, seq] i32
 *   param words[vocabulary=64, d_model=64] f32
 *   param places[positions=128, d_model=64] f32
 *   param gain[d_model=64] f32
 *   param W[d_model=64, vocabulary=64] f32
 *   param Wq[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   param Wk[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   param Wv[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   param Wo[blocks=2, heads=4, d_k=16, d_model=64] f32
 *   param W1[blocks=2, d_model=64, d_ff=256] f32
 *   param W2[blocks=2, d_ff=256, d_model=64] f32
 *   param gain1[blocks=2, d_model=64] f32
 *   param gain2[blocks=2, d_model=64] f32
 *   out   logits[batch, seq, vocabulary=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_model(const qkv_tensor *tokens, const qkv_tensor *words, const qkv_tensor *places, const qkv_tensor *gain, const qkv_tensor *W, const qkv_tensor *Wq, const qkv_tensor *Wk, const qkv_tensor *Wv, const qkv_tensor *Wo, const qkv_tensor *W1, const qkv_tensor *W2, const qkv_tensor *gain1, const qkv_tensor *gain2, const qkv_tensor *logits);

/* loss
 *   in    tokens[batch, seq] i32
 *   in    next[batch, seq] i32
 *   param words[vocabulary=64, d_model=64] f32
 *   param places[positions=128, d_model=64] f32
 *   param gain[d_model=64] f32
 *   param W[d_model=64, vocabulary=64] f32
 *   param Wq[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   param Wk[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   param Wv[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   param Wo[blocks=2, heads=4, d_k=16, d_model=64] f32
 *   param W1[blocks=2, d_model=64, d_ff=256] f32
 *   param W2[blocks=2, d_ff=256, d_model=64] f32
 *   param gain1[blocks=2, d_model=64] f32
 *   param gain2[blocks=2, d_model=64] f32
 *   out   loss[] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_loss(const qkv_tensor *tokens, const qkv_tensor *next, const qkv_tensor *words, const qkv_tensor *places, const qkv_tensor *gain, const qkv_tensor *W, const qkv_tensor *Wq, const qkv_tensor *Wk, const qkv_tensor *Wv, const qkv_tensor *Wo, const qkv_tensor *W1, const qkv_tensor *W2, const qkv_tensor *gain1, const qkv_tensor *gain2, const qkv_tensor *loss);

/* loss_gradient
 *   in    tokens[batch, seq] i32
 *   in    next[batch, seq] i32
 *   param words[vocabulary=64, d_model=64] f32
 *   param places[positions=128, d_model=64] f32
 *   param gain[d_model=64] f32
 *   param W[d_model=64, vocabulary=64] f32
 *   param Wq[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   param Wk[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   param Wv[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   param Wo[blocks=2, heads=4, d_k=16, d_model=64] f32
 *   param W1[blocks=2, d_model=64, d_ff=256] f32
 *   param W2[blocks=2, d_ff=256, d_model=64] f32
 *   param gain1[blocks=2, d_model=64] f32
 *   param gain2[blocks=2, d_model=64] f32
 *   in    dloss[] f32
 *   out   dwords[vocabulary=64, d_model=64] f32
 *   out   dplaces[positions=128, d_model=64] f32
 *   out   dgain[d_model=64] f32
 *   out   dW[d_model=64, vocabulary=64] f32
 *   out   dWq[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   out   dWk[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   out   dWv[blocks=2, d_model=64, heads=4, d_k=16] f32
 *   out   dWo[blocks=2, heads=4, d_k=16, d_model=64] f32
 *   out   dW1[blocks=2, d_model=64, d_ff=256] f32
 *   out   dW2[blocks=2, d_ff=256, d_model=64] f32
 *   out   dgain1[blocks=2, d_model=64] f32
 *   out   dgain2[blocks=2, d_model=64] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_loss_gradient(const qkv_tensor *tokens, const qkv_tensor *next, const qkv_tensor *words, const qkv_tensor *places, const qkv_tensor *gain, const qkv_tensor *W, const qkv_tensor *Wq, const qkv_tensor *Wk, const qkv_tensor *Wv, const qkv_tensor *Wo, const qkv_tensor *W1, const qkv_tensor *W2, const qkv_tensor *gain1, const qkv_tensor *gain2, const qkv_tensor *dloss, const qkv_tensor *dwords, const qkv_tensor *dplaces, const qkv_tensor *dgain, const qkv_tensor *dW, const qkv_tensor *dWq, const qkv_tensor *dWk, const qkv_tensor *dWv, const qkv_tensor *dWo, const qkv_tensor *dW1, const qkv_tensor *dW2, const qkv_tensor *dgain1, const qkv_tensor *dgain2);

/* The tables of all kernels above, 3 of them. */
extern const qkv_kernel *const qkv_library_train_kernels[];

#ifdef __cplusplus
}
#endif
#endif
