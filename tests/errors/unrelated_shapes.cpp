// A sum of two shapes, neither of which contains the other.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](in<"q", batch, seq, d_k> q, in<"k", batch, mem, d_k> k,
                                         param<"v", d_k> v) -> out<"S", batch, seq, mem> {
#ifdef WRONG
  // next line: +: neither side contains the other if it is meant, broadcast<mem>(q) and broadcast<seq>(k)
  auto h = q + k;
#else
      auto h = broadcast<mem>(q) + broadcast<seq>(k);
#endif
  return dot<d_k>(tanh(h), v);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
