// A mask over an axis that the scores lack.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, K_ K, V_ V, in<"length", i32, batch> length) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      // next line: mask: keep varies along mem, which dot(Q, K) / sqrt(d_k) lacks
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(mem) < length);
#else
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) < length);
#endif
      return dot<kv>(softmax<kv>(s), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
