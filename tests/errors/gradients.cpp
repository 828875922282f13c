// SPDX-License-Identifier: BSL-1.0
// Gradients that cannot be.
#include "axes.hpp"

// case of_a_gradient: the second derivative
namespace of_a_gradient {
using namespace my;

inline constexpr auto k =
    kernel<"k">([](Q_ Q) -> out<"S", batch, heads, seq, d_k> { return exp(Q); });
inline constexpr auto step = gradient<k>;
#ifdef WRONG
// next line: gradient<k_gradient>: it is a gradient itself
inline constexpr auto twice = gradient<step>;
#else
inline constexpr auto once = gradient<k>;
#endif

}  // namespace of_a_gradient

// case names_clash: an argument is named as the adjoint of a result
namespace names_clash {
using namespace my;

#ifdef WRONG
using other = in<"dS", batch, heads, seq, d_k>;
#else
using other = in<"R", batch, heads, seq, d_k>;
#endif
inline constexpr auto k =
    kernel<"k">([](Q_ Q, other R) -> out<"S", batch, heads, seq, d_k> { return Q * R; });
// next line: gradient<k>: two arguments are named dS
inline constexpr auto step = gradient<k>;

}  // namespace names_clash

// case no_such_argument: the gradient of something that the kernel lacks
namespace no_such_argument {
using namespace my;

inline constexpr auto k =
    kernel<"k">([](Q_ Q) -> out<"S", batch, heads, seq, d_k> { return exp(Q); });
#ifdef WRONG
// next line: gradient<k>: k has no argument K
inline constexpr auto step = gradient<k, "K">;
#else
inline constexpr auto step = gradient<k, "Q">;
#endif

}  // namespace no_such_argument
