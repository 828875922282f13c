// A mask on weights.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto s = dot<d_k>(Q, K) / sqrt(d_k);
#ifdef WRONG
  // next line: mask after softmax<kv> mask the scores before softmax;
  auto w = mask(softmax<kv>(s), index(kv) <= index(seq));
#else
      auto w = softmax<kv>(mask(s, index(kv) <= index(seq)));
#endif
  return dot<kv>(w, V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
