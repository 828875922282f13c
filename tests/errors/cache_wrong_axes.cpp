// Heads and positions in another order than the cache has them, of sizes that could be the same.
#include <qkv/dsl.hpp>
#include <qkv/kv_cache.hpp>

#include "axes.hpp"

namespace my {

inline constexpr axis<"slots"> slots;
using cache =
    kv_cache<batch, slots, tensor<batch, heads, slots, d_k>, tensor<batch, heads, slots, d_v>>;
using keys = tensor<batch, heads, seq, d_k>;
using turned_keys = tensor<batch, seq, heads, d_k>;
using values = tensor<batch, heads, seq, d_v>;

bool use(cache &c, keys &K, turned_keys &L, values &V) {
  (void)K;
  (void)L;
#ifdef WRONG
  // next line: kv_cache: this cannot be appended to its keys
  return c.append(L, V).ok();
#else
  return c.append(K, V).ok();
#endif
}

}  // namespace my
