// Self-attention whose keys were not renamed.
#include "axes.hpp"

namespace my {

inline constexpr auto k =
    kernel<"k">([](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d_k> Wq,
                   param<"Wk", d_model, heads, d_k> Wk,
                   param<"Wv", d_model, heads, d_v> Wv) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      auto M = X;
#else
      auto M = rename<seq, kv>(X);
#endif
      auto Q = dot<d_model>(X, Wq);
      auto K = dot<d_model>(M, Wk);
      // next line: dot<d_k>: both sides carry seq
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      auto w = softmax<kv>(s);
      return dot<kv>(w, dot<d_model>(M, Wv));
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
