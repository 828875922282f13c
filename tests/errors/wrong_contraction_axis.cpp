// A contraction over an axis that one side lacks.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  // next line: dot<d_v>: no axis d_v in Q
  auto s = dot<d_v>(Q, K) / sqrt(d_k);
#else
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
#endif
  return dot<kv>(softmax<kv>(s), V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
