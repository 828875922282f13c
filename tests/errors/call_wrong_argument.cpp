#include <qkv/call.hpp>

#include "axes.hpp"

namespace my {

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  return dot<kv>(softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k)), V);
});

using queries = tensor<batch, heads, seq, d_k>;
using keys = tensor<batch, heads, kv, d_k>;
using values = tensor<batch, heads, kv, d_v>;
using results = tensor<batch, heads, seq, d_v>;

bool use(queries &Q, keys &K, values &V, results &O) {
#ifdef WRONG
  // next line: call<k>: argument 2: what V takes, where K belongs
  return call<k>(Q, V, V, O).ok();
#else
  return call<k>(Q, K, V, O).ok();
#endif
}

}  // namespace my
