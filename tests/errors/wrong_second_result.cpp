// The second of two results with another axis than declared.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, K_ K, V_ V) -> outs<out<"O", batch, heads, seq, d_v>, out<"lse", batch, heads, seq>> {
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
#ifdef WRONG
      // next line: result lse: kv is not declared declared instead: seq
      return {dot<kv>(softmax<kv>(s), V), logsumexp<seq>(s)};
#else
      return {dot<kv>(softmax<kv>(s), V), logsumexp<kv>(s)};
#endif
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
