// A term made of activations, repeated without saying so.
#include "axes.hpp"

namespace my {

inline constexpr auto k =
    kernel<"k">([](Q_ Q, K_ K, V_ V, param<"u", heads, d_k> u) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      // next line: +: dot(u, K) would be repeated along seq if it is meant, write broadcast<seq>(dot(u, K))
      auto s = dot<d_k>(Q, K) + dot<d_k>(u, K);
#else
      auto s = dot<d_k>(Q, K) + broadcast<seq>(dot<d_k>(u, K));
#endif
      return dot<kv>(softmax<kv>(s), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
