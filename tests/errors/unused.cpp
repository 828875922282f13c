// SPDX-License-Identifier: BSL-1.0
// Arguments and steps that a formula does not use.
#include "axes.hpp"

// case argument_forgotten: a bias that is declared and not added
namespace argument_forgotten {
using namespace my;

using Bias_ = in<"bias", seq, kv>;
using S_ = out<"S", batch, heads, seq, kv>;
// next line: unused parameter
constexpr auto body = [](Q_ Q, K_ K, Bias_ bias) -> S_ {
#ifdef WRONG
  return softmax<kv>(dot<d_k>(Q, K));
#else
  return softmax<kv>(dot<d_k>(Q, K) + bias);
#endif
};
inline constexpr auto k = kernel<"k">(body);

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace argument_forgotten

// case step_forgotten: the scores instead of the weights are returned
namespace step_forgotten {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K) -> out<"S", batch, heads, seq, kv> {
  auto scores = dot<d_k>(Q, K) / sqrt(d_k);
  // next line: weights
  auto weights = softmax<kv>(scores);
#ifdef WRONG
  return scores;
#else
  return weights;
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace step_forgotten

// case mask_thrown_away: a mask that nothing reads
// at most 18 lines
namespace mask_thrown_away {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K) -> out<"S", batch, heads, seq, kv> {
  auto scores = dot<d_k>(Q, K) / sqrt(d_k);
#ifdef WRONG
  // next line: a step changes no other: use what it gives
  mask(scores, causal<seq, kv>);
  return softmax<kv>(scores);
#else
  return softmax<kv>(mask(scores, causal<seq, kv>));
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace mask_thrown_away
