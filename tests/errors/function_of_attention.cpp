// A mistake in the arguments of a function of attention/: the error stays on the line of the call.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  // next line: softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>?
  return scaled_dot_product<d_k, kv>(Q, K, V, causal<kv, seq>);
#else
      return scaled_dot_product<d_k, kv>(Q, K, V, causal<seq, kv>);
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
