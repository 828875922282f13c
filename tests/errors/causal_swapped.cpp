// Causal with query and key swapped.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<kv, seq>);
#else
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>);
#endif
  // next line: softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>?
  return dot<kv>(softmax<kv>(s), V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
