/* minilm_kernels: written by the code generator. */
#ifndef QKV_LIBRARY_minilm_kernels
#define QKV_LIBRARY_minilm_kernels
#include <qkv/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* embeddings
 *   in    tokens[batch, seq] i32
 *   param words[vocabulary=30522, d_model=384] f32
 *   param places[positions=512, d_model=384] f32
 *   param kind[d_model=384] f32
 *   param gamma[d_model=384] f32
 *   param beta[d_model=384] f32
 *   out   X[batch, seq, d_model=384] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_embeddings(const qkv_tensor *tokens, const qkv_tensor *words, const qkv_tensor *places, const qkv_tensor *kind, const qkv_tensor *gamma, const qkv_tensor *beta, const qkv_tensor *X);

/* layer
 *   in    X[batch, seq, d_model=384] f32
 *   in    length[batch] i32
 *   param Wq[heads=12, d_k=32, d_model=384] f32
 *   param bq[heads=12, d_k=32] f32
 *   param Wk[heads=12, d_k=32, d_model=384] f32
 *   param bk[heads=12, d_k=32] f32
 *   param Wv[heads=12, d_k=32, d_model=384] f32
 *   param bv[heads=12, d_k=32] f32
 *   param Wo[d_model=384, heads=12, d_k=32] f32
 *   param bo[d_model=384] f32
 *   param gamma1[d_model=384] f32
 *   param beta1[d_model=384] f32
 *   param W1[d_ff=1536, d_model=384] f32
 *   param b1[d_ff=1536] f32
 *   param W2[d_model=384, d_ff=1536] f32
 *   param b2[d_model=384] f32
 *   param gamma2[d_model=384] f32
 *   param beta2[d_model=384] f32
 *   out   Y[batch, seq, d_model=384] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_layer(const qkv_tensor *X, const qkv_tensor *length, const qkv_tensor *Wq, const qkv_tensor *bq, const qkv_tensor *Wk, const qkv_tensor *bk, const qkv_tensor *Wv, const qkv_tensor *bv, const qkv_tensor *Wo, const qkv_tensor *bo, const qkv_tensor *gamma1, const qkv_tensor *beta1, const qkv_tensor *W1, const qkv_tensor *b1, const qkv_tensor *W2, const qkv_tensor *b2, const qkv_tensor *gamma2, const qkv_tensor *beta2, const qkv_tensor *Y);

/* pooling
 *   in    X[batch, seq, d_model=384] f32
 *   in    length[batch] i32
 *   out   sentence[batch, d_model=384] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_pooling(const qkv_tensor *X, const qkv_tensor *length, const qkv_tensor *sentence);

/* attention_weights
 *   in    X[batch, seq, d_model=384] f32
 *   in    length[batch] i32
 *   param Wq[heads=12, d_k=32, d_model=384] f32
 *   param bq[heads=12, d_k=32] f32
 *   param Wk[heads=12, d_k=32, d_model=384] f32
 *   param bk[heads=12, d_k=32] f32
 *   out   W[batch, heads=12, seq, kv] f32
 * Returns one of the codes QKV_* of qkv/kernel.h; qkv_call gives its text.
 * Outputs stay as they were if a check fails. */
int qkv_attention_weights(const qkv_tensor *X, const qkv_tensor *length, const qkv_tensor *Wq, const qkv_tensor *bq, const qkv_tensor *Wk, const qkv_tensor *bk, const qkv_tensor *W);

/* The tables of all kernels above, 4 of them. */
extern const qkv_kernel *const qkv_library_minilm_kernels[];

#ifdef __cplusplus
}
#endif
#endif
