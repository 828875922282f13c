// A softmax over queries.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  auto w = softmax<seq>(dot<d_k>(Q, K) / sqrt(d_k));
#else
      auto w = softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k));
#endif
  // next line: dot<kv> contracts weights over seq; did you mean softmax<kv>?
  return dot<kv>(w, V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
