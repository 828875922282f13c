// A scale by the size of an axis that was not contracted.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  // next line: sqrt(d_model): d_model was not contracted here did you mean sqrt(d_k)? if it is meant, sqrt(size(d_model))
  auto s = dot<d_k>(Q, K) / sqrt(d_model);
#else
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
#endif
  return dot<kv>(softmax<kv>(s), V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
