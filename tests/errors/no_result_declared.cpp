// A kernel that does not say what it returns.
#include "axes.hpp"

namespace my {

#ifdef WRONG
constexpr auto body = [](Q_ Q, K_ K) { return dot<d_k>(Q, K); };
#else
constexpr auto body = [](Q_ Q, K_ K) -> out<"S", batch, heads, seq, kv> { return dot<d_k>(Q, K); };
#endif
// next line: kernel k: says no result
inline constexpr auto k = kernel<"k">(body);

}  // namespace my
