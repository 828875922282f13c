// Two results where one is declared.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto s = dot<d_k>(Q, K) / sqrt(d_k);
#ifdef WRONG
  // next line: results: 1 declared, 2 returned
  return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
#else
      return dot<kv>(softmax<kv>(s), V);
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
