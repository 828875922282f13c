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

bool use(queries &Q, keys &K, tensor<f64, batch, heads, kv, d_k> &L, values &V, results &O) {
  (void)L;
#ifdef WRONG
  // next line: call<k>: argument 2: K is f32 but f64 is given
  return call<k>(Q, L, V, O).ok();
#else
  return call<k>(Q, K, V, O).ok();
#endif
}

}  // namespace my
