// A bias with an axis that the step lacks.
#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">(
    [](in<"X", batch, seq, d_model> X, param<"W", d_model, heads, d_k> W, param<"c", heads, d_k> c,
       param<"d", d_model> d) -> out<"Q", batch, heads, seq, d_k> {
      (void)c, (void)d;
#ifdef WRONG
      // next line: +: d varies along d_model, which dot(X, W) lacks
      return dot<d_model>(X, W) + d;
#else
      return dot<d_model>(X, W) + c;
#endif
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
