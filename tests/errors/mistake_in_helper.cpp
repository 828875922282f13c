// A mistake inside a function that a user wrote over the language: the error is on its line.
#include "axes.hpp"

namespace my {

constexpr auto attend(auto query, auto key, auto value) {
  auto scores = dot<d_k>(query, key) / sqrt(d_k);
#ifdef WRONG
  auto weights = softmax<seq>(scores);
#else
  auto weights = softmax<kv>(scores);
#endif
  // next line: dot<kv> contracts weights over seq; did you mean softmax<kv>?
  auto mixed = dot<kv>(weights, value);
  return let<"mixed">(mixed * 2.f);
}

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto mixed = attend(Q, K, V);
  return relu(mixed);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace my
