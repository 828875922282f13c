// A result with another axis than declared.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto s = dot<d_k>(Q, K) / sqrt(d_k);
  (void)V;
#ifdef WRONG
  // next line: result O: kv is not declared
  return softmax<kv>(s);
#else
      return dot<kv>(softmax<kv>(s), V);
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
