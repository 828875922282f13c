// A padding mask over queries.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, K_ K, V_ V, in<"length", i32, batch> length) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(seq) < length);
#else
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) < length);
#endif
      // next line: softmax<kv>: a mask does not vary along kv
      return dot<kv>(softmax<kv>(s), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
