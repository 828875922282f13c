// SPDX-License-Identifier: BSL-1.0
// Calls of formulas, of the library and of a user's own header.
#include "axes.hpp"

namespace my {

template <an_axis auto Features, an_axis auto Key>
inline constexpr auto cosine_attention =
    formula<"cosine_attention(q, k, v)">([](traced auto q, traced auto k, traced auto v) {
      auto cosines = dot<Features>(unit_length<Features>(q), unit_length<Features>(k));
      return dot<Key>(softmax<Key>(cosines), v);
    });

}  // namespace my

// case formula_of_a_user: values without keys, which a step deep inside needs
namespace formula_of_a_user {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  (void)V;
  // next line: dot<kv>: no axis kv in Q
  return cosine_attention<d_k, kv>(Q, K, Q);
#else
  return cosine_attention<d_k, kv>(Q, K, V);
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace formula_of_a_user

// case formula_with_too_few: multi-head attention without its last matrices
namespace formula_with_too_few {
using namespace my;

using X_ = in<"X", batch, seq, d_model>;
using Wq_ = param<"Wq", d_model, heads, d_k>;
using Wk_ = param<"Wk", d_model, heads, d_k>;
using Wv_ = param<"Wv", d_model, heads, d_v>;
using Wo_ = param<"Wo", heads, d_v, d_model>;
inline constexpr auto k =
    kernel<"k">([](X_ X, Wq_ Wq, Wk_ Wk, Wv_ Wv, Wo_ Wo) -> out<"O", batch, seq, d_model> {
      (void)Wo;
#ifdef WRONG
      // next line: multi_head is not called with 4 such operands it takes multi_head(X, Wq, Wk, Wv, Wo[, keep])
      return multi_head<d_model, seq, kv, heads, d_k, d_v>(X, Wq, Wk, Wv);
#else
      return multi_head<d_model, seq, kv, heads, d_k, d_v>(X, Wq, Wk, Wv, Wo);
#endif
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace formula_with_too_few

// case formula_uncalled: a window without its width
namespace formula_uncalled {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K) -> out<"S", batch, heads, seq, kv> {
  auto scores = dot<d_k>(Q, K);
#ifdef WRONG
  // next line: mask: sliding_window is not called write sliding_window(width[, length[, count]])
  return softmax<kv>(mask(scores, sliding_window<seq, kv>));
#else
  return softmax<kv>(mask(scores, sliding_window<seq, kv>(128)));
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace formula_uncalled

// case axis_as_operand: a score divided by an axis
namespace axis_as_operand {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K) -> out<"S", batch, heads, seq, kv> {
#ifdef WRONG
  // next line: /: d_k is an axis, not a number did you mean sqrt(d_k) or size(d_k)?
  return softmax<kv>(dot<d_k>(Q, K) / d_k);
#else
  return softmax<kv>(dot<d_k>(Q, K) / sqrt(d_k));
#endif
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace axis_as_operand
