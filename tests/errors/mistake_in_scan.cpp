// A mistake inside the step of a scan.
// at most 17 lines: the step is called by scan.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">(
    [](in<"Q", batch, seq, d_k> Q, in<"K", batch, seq, d_k> K, in<"V", batch, seq, d_v> V,
       in<"S0", batch, d_k, d_v> S0) -> outs<out<"O", batch, seq, d_v>, out<"S", batch, d_k, d_v>> {
      auto [o, last] = scan<seq>(
          S0,
          [](auto S, auto q, auto k, auto v) {
#ifdef WRONG
            // next line: dot<d_v>: no axis d_v in K
            auto w = v - dot<d_v>(k, S);
#else
            auto w = v - dot<d_k>(k, S);
#endif
            auto next = S + broadcast<d_v>(k) * broadcast<d_k>(w);
            return std::pair{next, dot<d_k>(q, next)};
          },
          Q, K, V);
      return {o, last};
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
