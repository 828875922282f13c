// Heads added up between activations.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  // next line: dot<heads, d_k> adds up batch axis heads of two activations did you mean dot<d_k>(Q, K)?
  auto s = dot<heads, d_k>(Q, K) / sqrt(d_k);
#else
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
#endif
  return dot<kv>(softmax<kv>(s), V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
