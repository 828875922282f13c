// Causal between two lengths that have nothing to do with each other.
#include "axes.hpp"

namespace my {

inline constexpr auto k =
    kernel<"k">([](Q_ Q, in<"K", batch, heads, mem, d_k> K,
                   in<"V", batch, heads, mem, d_v> V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      // next line: causal<seq, mem>: the sizes of seq and mem are unrelated
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, mem>);
#else
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, mem, align::last>);
#endif
      return dot<mem>(softmax<mem>(s), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
