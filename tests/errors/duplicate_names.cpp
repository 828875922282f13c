// Two arguments of one name.
#include "axes.hpp"

namespace my {

#ifdef WRONG
using second = in<"Q", batch, heads, kv, d_k>;
#else
using second = in<"K", batch, heads, kv, d_k>;
#endif

constexpr auto body = [](Q_ Q, second K) -> out<"S", batch, heads, seq, kv> {
  return dot<d_k>(Q, K);
};
// next line: kernel k: two arguments are named Q
inline constexpr auto k = kernel<"k">(body);

}  // namespace my
