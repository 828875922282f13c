// Dropout of 10 per cent, written as a number of per cent.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto w = softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k));
#ifdef WRONG
  // next line: dropout: p is outside of [0, 1)
  return dot<kv>(dropout<10>(w, 1), V);
#else
  return dot<kv>(dropout<0.1>(w, 1), V);
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
