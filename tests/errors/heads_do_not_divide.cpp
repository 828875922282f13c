// A number of heads that does not divide d_model.
#include "axes.hpp"

namespace my {

#ifdef WRONG
inline constexpr batch_axis<"heads", 7> some_heads;
#else
inline constexpr batch_axis<"heads", 8> some_heads;
#endif
inline constexpr axis<"d_h"> d_h;

inline constexpr auto k =
    kernel<"k">([](in<"X", batch, seq, d_model> X) -> out<"Y", batch, seq, some_heads, d_h> {
      // next line: split<d_model>: 7 heads do not divide d_model=512 (rest 1) divisors near: 4 or 8 X[batch, seq, d_model=512]
      return split<d_model, some_heads, d_h>(X);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
