// SPDX-License-Identifier: BSL-1.0
// Axes that are contracted, split or joined wrongly.
#include "axes.hpp"

// case forgotten_rename: self-attention whose keys were not renamed
namespace forgotten_rename {
using namespace my;

inline constexpr auto k =
    kernel<"k">([](in<"X", batch, seq, d_model> X, param<"Wq", d_model, heads, d_k> Wq,
                   param<"Wk", d_model, heads, d_k> Wk,
                   param<"Wv", d_model, heads, d_v> Wv) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      auto M = X;
#else
      auto M = rename<seq, kv>(X);
#endif
      auto Q = dot<d_model>(X, Wq);
      auto K = dot<d_model>(M, Wk);
      // next line: dot<d_k>: both sides carry seq
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      auto w = softmax<kv>(s);
      return dot<kv>(w, dot<d_model>(M, Wv));
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace forgotten_rename

// case grouped_heads_not_split: grouped heads without the split
namespace grouped_heads_not_split {
using namespace my;

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, in<"K", batch, kv_heads, kv, d_k> K) -> out<"S", batch, kv_heads, group, seq, kv> {
#ifdef WRONG
      auto q = Q;
#else
      auto q = split<heads, kv_heads, group>(Q);
#endif
      // next line: result S: heads is not declared
      return softmax<kv>(dot<d_k>(q, K) / sqrt(d_k));
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace grouped_heads_not_split

// case heads_contracted: heads added up between activations
namespace heads_contracted {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  // next line: dot<heads, d_k> adds up batch axis heads of two activations did you mean dot<d_k>(Q, K)?
  auto s = dot<heads, d_k>(Q, K) / sqrt(d_k);
#else
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
#endif
  return dot<kv>(softmax<kv>(s), V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace heads_contracted

// case heads_do_not_divide: a number of heads that does not divide d_model
namespace heads_do_not_divide {
using namespace my;

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

}  // namespace heads_do_not_divide

// case static_sizes_differ: one axis, two static sizes
namespace static_sizes_differ {
using namespace my;

#ifdef WRONG
inline constexpr axis<"d_k", 48> narrow;
#else
inline constexpr auto narrow = d_k;
#endif

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, in<"K", batch, heads, kv, narrow> K, V_ V) -> out<"O", batch, heads, seq, d_v> {
      // next line: dot<d_k>: d_k is 64 in Q but 48 in K
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
      return dot<kv>(softmax<kv>(s), V);
    });

}  // namespace static_sizes_differ

// case unrelated_shapes: a sum of two shapes, neither of which contains the other
namespace unrelated_shapes {
using namespace my;

inline constexpr auto k = kernel<"k">([](in<"q", batch, seq, d_k> q, in<"k", batch, mem, d_k> k,
                                         param<"v", d_k> v) -> out<"S", batch, seq, mem> {
#ifdef WRONG
  // next line: +: neither side contains the other if it is meant, broadcast<mem>(q) and broadcast<seq>(k)
  auto h = q + k;
#else
      auto h = broadcast<mem>(q) + broadcast<seq>(k);
#endif
  return dot<d_k>(tanh(h), v);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace unrelated_shapes

// case wrong_contraction_axis: a contraction over an axis that one side lacks
namespace wrong_contraction_axis {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  // next line: dot<d_v>: no axis d_v in Q
  auto s = dot<d_v>(Q, K) / sqrt(d_k);
#else
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
#endif
  return dot<kv>(softmax<kv>(s), V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace wrong_contraction_axis
