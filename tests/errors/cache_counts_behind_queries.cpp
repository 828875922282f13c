// Counts of a ragged batch behind the queries, where the kernel takes them, and not behind the new values.
#include <qkv/dsl.hpp>
#include <qkv/kv_cache.hpp>

#include "axes.hpp"

namespace my {

inline constexpr axis<"slots"> slots;
inline constexpr auto decode =
    kernel<"decode">([](Q_ Q, in<"K", batch, heads, slots, d_k> K,
                        in<"V", batch, heads, slots, d_v> V, in<"length", i32, batch> length,
                        in<"count", i32, batch> count) -> out<"O", batch, heads, seq, d_v> {
      return dot<slots>(softmax<slots>(mask(dot<d_k>(Q, K) / sqrt(d_k),
                                            cached_causal<seq, slots>(length, count))),
                        V);
    });

using cache =
    kv_cache<batch, slots, tensor<batch, heads, slots, d_k>, tensor<batch, heads, slots, d_v>>;
using queries = tensor<batch, heads, seq, d_k>;
using values = tensor<batch, heads, seq, d_v>;

bool use(cache &c, queries &Q, queries &K, values &V, tensor<i32, batch> &counts, values &O) {
#ifdef WRONG
  // next line: attend<decode>: behind the new values stands count: contiguous i32
  return c.attend<decode>(K, V, Q, counts, O).ok();
#else
  return c.attend<decode>(K, V, counts, Q, O).ok();
#endif
}

}  // namespace my
