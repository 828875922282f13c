// One axis, two static sizes.
#include "axes.hpp"

namespace my {

#ifdef WRONG
inline constexpr axis<"d_k", 48> narrow;
#else
inline constexpr auto narrow = d_k;
#endif

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, in<"K", batch, heads, kv, narrow> K, V_ V) -> out<"O", batch, heads, seq, d_v> {
      // next line: dot<d_k>: d_k is 64 in Q but 48 in K
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      return dot<kv>(softmax<kv>(s), V);
    });

}  // namespace my
