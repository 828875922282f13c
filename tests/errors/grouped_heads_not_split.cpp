// Grouped heads without the split.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, in<"K", batch, kv_heads, kv, d_k> K) -> out<"S", batch, kv_heads, group, seq, kv> {
#ifdef WRONG
      auto q = Q;
#else
      auto q = split<heads, kv_heads, group>(Q);
#endif
      // next line: result S: heads is not declared
      return softmax<kv>(dot<d_k>(q, K) / sqrt(d_k));
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
