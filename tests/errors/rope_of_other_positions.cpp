// Keys turned by the table of the queries: the error stays on the line of the call.
#include "axes.hpp"

namespace my {

inline constexpr axis<"two", 2> two;
inline constexpr axis<"half", 32> half;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto of_q = rope_angle<seq, half>();
  auto of_k = rope_angle<kv, half>();
  auto q = rope<d_k, two, half>(Q, cos(of_q), sin(of_q));
#ifdef WRONG
  // next line: rope: cos(..) varies along seq, which the pairs of K lack
  auto k = rope<d_k, two, half>(K, cos(of_q), sin(of_q));
#else
  auto k = rope<d_k, two, half>(K, cos(of_k), sin(of_k));
#endif
  return scaled_dot_product<d_k, kv>(q, k, V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
