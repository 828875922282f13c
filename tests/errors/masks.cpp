// SPDX-License-Identifier: BSL-1.0
// Masks, biases, scales and rotations of the wrong axes.
#include "axes.hpp"

// case bias_of_wrong_shape: a bias with an axis that the step lacks
namespace bias_of_wrong_shape {
using namespace my;

inline constexpr auto k = kernel<"k">(
    [](in<"X", batch, seq, d_model> X, param<"W", d_model, heads, d_k> W, param<"c", heads, d_k> c,
       param<"d", d_model> d) -> out<"Q", batch, heads, seq, d_k> {
      (void)c, (void)d;
#ifdef WRONG
      // next line: +: d varies along d_model, which dot(X, W) lacks
      return dot<d_model>(X, W) + d;
#else
      return dot<d_model>(X, W) + c;
#endif
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace bias_of_wrong_shape

// case bias_over_queries: a bias that is the same for every key cancels in the softmax
namespace bias_over_queries {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  auto s = dot<d_k>(Q, K) / sqrt(d_k) - 0.5f * index(seq);
#else
      auto s = dot<d_k>(Q, K) / sqrt(d_k) - 0.5f * index(kv);
#endif
  // next line: softmax<kv>: a bias does not vary along kv and cancels
  return dot<kv>(softmax<kv>(s), V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace bias_over_queries

// case bias_repeated: a term made of activations, repeated without saying so
namespace bias_repeated {
using namespace my;

inline constexpr auto k =
    kernel<"k">([](Q_ Q, K_ K, V_ V, param<"u", heads, d_k> u) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      // next line: +: dot(u, K) would be repeated along seq in a softmax over seq it cancels if it is meant, write broadcast<seq>(dot(u, K))
      auto s = dot<d_k>(Q, K) + dot<d_k>(u, K);
#else
      auto s = dot<d_k>(Q, K) + broadcast<seq>(dot<d_k>(u, K));
#endif
      return dot<kv>(softmax<kv>(s), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace bias_repeated

// case bias_swapped: a table of distances with query and key swapped
namespace bias_swapped {
using namespace my;

inline constexpr axis<"distances", 33> distances;

inline constexpr auto k = kernel<"k">([
](Q_ Q, K_ K, V_ V, param<"table", heads, distances> table) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  auto s = dot<d_k>(Q, K) + relative_bias<kv, seq, distances>(table);
#else
      auto s = dot<d_k>(Q, K) + relative_bias<seq, kv, distances>(table);
#endif
  // next line: softmax<kv>: relative_bias<kv, seq> takes seq as its keys did you mean relative_bias<seq, kv>?
  return dot<kv>(softmax<kv>(s), V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace bias_swapped

// case bias_without_length: distances from the last slot of a cache that has room left
namespace bias_without_length {
using namespace my;

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, StoredK_ K, StoredV_ V, Length_ length) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      auto s = dot<d_k>(Q, K) + alibi<seq, slots, align::last>(alibi_slopes(heads));
#else
      auto s = dot<d_k>(Q, K) + alibi<seq, slots>(alibi_slopes(heads), length);
#endif
      auto seen = cached_causal<seq, slots>(length);
      // next line: mask: alibi<seq, slots> lacks the length that cached_causal<seq, slots> takes
      return dot<slots>(softmax<slots>(mask(s, seen)), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace bias_without_length

// case cached_causal_swapped: cached_causal with query and slots swapped
namespace cached_causal_swapped {
using namespace my;

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, StoredK_ K, StoredV_ V, Length_ length) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), cached_causal<slots, seq>(length));
#else
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), cached_causal<seq, slots>(length));
#endif
      // next line: softmax<slots>: cached_causal<slots, seq> takes seq as its keys
      return dot<slots>(softmax<slots>(s), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace cached_causal_swapped

// case causal_not_aligned: causal between two lengths that have nothing to do with each other
namespace causal_not_aligned {
using namespace my;

inline constexpr auto k =
    kernel<"k">([](Q_ Q, in<"K", batch, heads, mem, d_k> K,
                   in<"V", batch, heads, mem, d_v> V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      // next line: causal<seq, mem>: the sizes of seq and mem are unrelated
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, mem>);
#else
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, mem, align::last>);
#endif
      return dot<mem>(softmax<mem>(s), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace causal_not_aligned

// case causal_swapped: causal with query and key swapped
namespace causal_swapped {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<kv, seq>);
#else
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), causal<seq, kv>);
#endif
  // next line: softmax<kv>: causal<kv, seq> takes seq as its keys did you mean causal<seq, kv>?
  return dot<kv>(softmax<kv>(s), V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace causal_swapped

// case mask_over_queries: a padding mask over queries
namespace mask_over_queries {
using namespace my;

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, K_ K, V_ V, in<"length", i32, batch> length) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(seq) < length);
#else
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) < length);
#endif
      // next line: softmax<kv>: a mask does not vary along kv
      return dot<kv>(softmax<kv>(s), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace mask_over_queries

// case mask_over_wrong_axes: a mask over an axis that the scores lack
namespace mask_over_wrong_axes {
using namespace my;

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, K_ K, V_ V, in<"length", i32, batch> length) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
      // next line: mask: keep varies along mem, which dot(Q, K) / sqrt(d_k) lacks
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(mem) < length);
#else
      auto s = mask(dot<d_k>(Q, K) / sqrt(d_k), index(kv) < length);
#endif
      return dot<kv>(softmax<kv>(s), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace mask_over_wrong_axes

// case residual_repeated: a residual onto a vector that lost its features
namespace residual_repeated {
using namespace my;

inline constexpr axis<"d_in", 512> d_in;

inline constexpr auto k =
    kernel<"k">([](in<"X", batch, seq, d_model> X, param<"w", d_model> w,
                   param<"W", d_in, d_model> W) -> out<"Y", batch, seq, d_model> {
      (void)w, (void)W;
#ifdef WRONG
      // next line: +: dot(X, w) would be repeated along d_model if it is meant, write broadcast<d_model>(dot(X, w))
      return X + dot<d_model>(X, w);
#else
      return X + dot<d_in>(rename<d_model, d_in>(X), W);
#endif
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace residual_repeated

// case rope_of_other_positions: keys turned by the table of the queries: the error stays on the line of the call
namespace rope_of_other_positions {
using namespace my;

inline constexpr axis<"two", 2> two;
inline constexpr axis<"half", 32> half;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
  auto of_q = rope_angle<seq, half>();
  auto of_k = rope_angle<kv, half>();
  auto q = rope<d_k, two, half>(Q, cos(of_q), sin(of_q));
#ifdef WRONG
  // next line: rope: cos(..) varies along seq, which the pairs of K lack did you mean rename<seq, kv>(cos(..))?
  auto k = rope<d_k, two, half>(K, cos(of_q), sin(of_q));
#else
  auto k = rope<d_k, two, half>(K, cos(of_k), sin(of_k));
#endif
  return scaled_dot_product<d_k, kv>(q, k, V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace rope_of_other_positions

// case scale_by_other_axis: a scale by the size of an axis that was not contracted
namespace scale_by_other_axis {
using namespace my;

inline constexpr auto k = kernel<"k">([](Q_ Q, K_ K, V_ V) -> out<"O", batch, heads, seq, d_v> {
#ifdef WRONG
  // next line: sqrt(d_model): d_model was not contracted here did you mean sqrt(d_k)? if it is meant, sqrt(size(d_model))
  auto s = dot<d_k>(Q, K) / sqrt(d_model);
#else
      auto s = dot<d_k>(Q, K) / sqrt(d_k);
#endif
  return dot<kv>(softmax<kv>(s), V);
});

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace scale_by_other_axis

// case window_without_length: a window counted from the last slot of a cache that has room left
namespace window_without_length {
using namespace my;

inline constexpr auto k = kernel<"k">(
    [](Q_ Q, StoredK_ K, StoredV_ V, Length_ length) -> out<"O", batch, heads, seq, d_v> {
      auto seen = cached_causal<seq, slots>(length);
#ifdef WRONG
      // next line: and: sliding_window<seq, slots> lacks the length that cached_causal<seq, slots> takes
      auto near = seen and sliding_window<seq, slots, align::last>(8);
#else
      auto near = seen and sliding_window<seq, slots>(8, length);
#endif
      return dot<slots>(softmax<slots>(mask(dot<d_k>(Q, K) / sqrt(d_k), near)), V);
    });

int nodes() { return k.trace().size(); }  // as a generator does

}  // namespace window_without_length
