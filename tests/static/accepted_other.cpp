// SPDX-License-Identifier: BSL-1.0
// Right formulas beside attention: norms, gates, pooling, images. None of it may be refused.
#include "spec.hpp"

namespace accepted {

using namespace spec;

constexpr axis<"experts", 4> experts;
constexpr axis<"rows", 16> rows;
constexpr axis<"columns", 16> columns;
using X_ = in<"X", batch, seq, d_model>;
using Y_ = out<"Y", batch, seq, d_model>;

inline constexpr auto layer_norm_by_hand =
    kernel<"by_hand">([](X_ x, param<"scale", d_model> scale, param<"shift", d_model> shift) -> Y_ {
      auto c = x - mean<d_model>(x);
      return c * rsqrt(mean<d_model>(c * c) + 1e-5f) * scale + shift;
    });

inline constexpr auto rms_norm = kernel<"rms_norm">([](X_ x, param<"scale", d_model> scale) -> Y_ {
  return x / sqrt(mean<d_model>(x * x) + 1e-6f) * scale;
});

inline constexpr auto norm_by_length =
    kernel<"by_length">([](in<"Q", batch, seq, d_k> q) -> out<"R", batch, seq, d_k> {
      return q * (sqrt(d_k) / sqrt(sum<d_k>(q * q) + 1e-6f)) * (sqrt(d_v) / sqrt(d_k));
    });

inline constexpr auto variance = kernel<"variance">([](X_ x) -> out<"v", batch, seq> {
  return mean<d_model>(x * x) - mean<d_model>(x) * mean<d_model>(x);
});

inline constexpr auto feed_forward = kernel<"feed_forward">(
    [](X_ x, param<"W", d_model, hidden> W, param<"c", hidden> c, param<"U", hidden, d_model> U,
       param<"d", d_model> d, param<"scale", d_model> scale, param<"shift", d_model> shift) -> Y_ {
      return x + dot<hidden>(gelu(dot<d_model>(layer_norm<d_model>(x, scale, shift), W) + c), U) +
             d;
    });

inline constexpr auto gated =
    kernel<"gated">([](X_ x, param<"W", d_model, hidden> W, param<"G", d_model, hidden> G,
                       param<"U", hidden, d_model> U) -> Y_ {
      return dot<hidden>(silu(dot<d_model>(x, G)) * dot<d_model>(x, W), U);
    });

inline constexpr auto mixture_of_experts =
    kernel<"experts">([](in<"G", batch, seq, experts> G, in<"E", batch, seq, experts, d_v> E,
                         param<"W", d_v, d_model> W) -> Y_ {
      return sum<experts>(dot<d_v>(softmax<experts>(G) * E, W));
    });

inline constexpr auto positions_as_input =
    kernel<"positions">([](X_ x, in<"P", seq, d_model> P) -> Y_ { return x + P; });

inline constexpr auto gate_per_row =
    kernel<"gate">([](X_ x, in<"z", batch, seq> z) -> Y_ { return x * (1 - sigmoid(z)); });

inline constexpr auto mean_pooling =
    kernel<"mean_pooling">([](X_ x, in<"length", i32, batch> length) -> out<"Y", batch, d_model> {
      return mean<seq>(mask(x, index(seq) < length));
    });

inline constexpr auto unit_length = kernel<"unit_length">([
](in<"X", batch, d_model> x) -> out<"Y", batch, d_model> { return x / sqrt(sum<d_model>(x * x)); });

inline constexpr auto softmax_over_an_image =
    kernel<"image">([](in<"A", batch, seq, rows, columns> A,
                       in<"V", batch, rows, columns, d_v> V) -> out<"O", batch, seq, d_v> {
      return dot<rows, columns>(softmax<rows, columns>(A), V);
    });

inline constexpr auto weighted_sum_by_hand = kernel<"by_hand">([
](in<"A", batch, seq, rows, columns> A, in<"V", batch, rows, columns> V) -> out<"O", batch, seq> {
  return sum<rows, columns>(softmax<rows, columns>(A) * V);
});

inline constexpr auto outer_product =
    kernel<"outer">([](in<"a", batch, seq> a, in<"b", batch, mem> b) -> out<"O", batch, seq, mem> {
      return broadcast<mem>(a) * broadcast<seq>(b);
    });

inline constexpr auto per_batch_scalars =
    kernel<"scalars">([](X_ x, in<"shift"> shift, in<"temperature", batch> temperature) -> Y_ {
      return (x + shift) / temperature;
    });

inline constexpr auto embedding_scale =
    kernel<"embedding">([](X_ x) -> Y_ { return x * sqrt(d_model); });

inline constexpr auto split_and_back = kernel<"split_and_back">(
    [](X_ x) -> Y_ { return merge<d_model, heads, d_k>(split<d_model, heads, d_k>(x) * 2); });

inline constexpr auto fixed_positions = kernel<"sinusoids">(
    [](X_ x) -> Y_ { return x + sin(index(seq) / pow(10000.f, index(d_model) / size(d_model))); });

inline constexpr auto contrastive =
    kernel<"contrastive">([](in<"A", seq, d_model> a, in<"B", mem, d_model> b) -> out<"l", seq> {
      auto s = dot<d_model>(a, b) / 0.07f;
      return logsumexp<mem>(s) - max<mem>(s);
    });

inline constexpr auto masked_values_by_choice =
    kernel<"choice">([](X_ x, in<"seen", b8, batch, seq> seen) -> Y_ { return where(seen, x, 0); });

inline constexpr auto bias_per_head =
    kernel<"bias_per_head">([](X_ x, param<"W", d_model, heads, d_k> W,
                               param<"c", heads, d_k> c) -> out<"Q", batch, heads, seq, d_k> {
      return dot<d_model>(x, W) + c;
    });

inline constexpr auto many_axes =
    kernel<"many">([](in<"X", batch, heads, seq, kv, mem, d_k, d_v, group> x)
                       -> out<"Y", batch, heads, seq, kv, mem, d_k, d_v, group> { return x * 2; });

static_assert(feed_forward.trace().count(core::op::dot) == 2 &&
              many_axes.arguments[0].shape.n == 8);

// Weights over both axes of an image: each of two biases, and each of two masks, has one of them.
constexpr axis<"height"> height;
constexpr axis<"width"> width;
inline constexpr auto of_image = kernel<"of_image">(
    [](in<"S", seq, height, width> S, in<"by", seq, height> by, in<"bx", seq, width> bx,
       in<"h", i32> h, in<"w", i32> w) -> out<"W", seq, height, width> {
      auto scores = S + by + bx;
      return softmax<height, width>(mask(mask(scores, index(height) < h), index(width) < w));
    });
static_assert(of_image.trace().count(core::op::softmax) == 1);

// The same over places of one axis; and x * (1 + scale) + shift, where both are of the whole image.
constexpr axis<"pixels"> pixels;
inline constexpr auto of_pixels = kernel<"of_pixels">(
    [](in<"S", seq, height, width> S, in<"by", seq, height> by, in<"bx", seq, width> bx,
       in<"h", i32> h, in<"w", i32> w) -> out<"W", seq, pixels> {
      auto scores = mask(mask(S + by + bx, index(height) < h), index(width) < w);
      return softmax<pixels>(merge<pixels, height, width>(scores));
    });
inline constexpr auto modulated = kernel<"modulated">(
    [](X_ X, in<"c", batch, hidden> c, param<"w_scale", hidden, d_model> w_scale,
       param<"w_shift", hidden, d_model> w_shift) -> Y_ {
      auto scale = 1 + dot<hidden>(c, w_scale);
      auto shift = dot<hidden>(c, w_shift);
      return layer_norm<d_model>(X * scale + shift, scale, shift);
    });
static_assert(of_pixels.trace().count(core::op::merge) == 1 &&
              modulated.trace().count(core::op::add) == 4);

// Sines and cosines of positions, and functions of plain numbers.
constexpr axis<"half", 256> half;
inline constexpr auto encoded = kernel<"encoded">([](X_ X) -> Y_ {
  auto angle = index(seq) * pow(10000.0, index(half) * -2.0 / size(d_model));
  return X + concat<d_model, half, half>(sin(angle), cos(angle)) * abs(-0.5f) * max(2.f, 3);
});
inline constexpr auto encoded_of_two = kernel<"encoded_of_two">([](X_ X) -> Y_ {
  constexpr alias<"other_half", half> other_half;
  auto angle = index(seq) * pow(10000.0, index(half) * -2.0 / size(d_model));
  return X + let<"place">(concat<d_model>(sin(angle), rename<half, other_half>(cos(angle))));
});
static_assert(encoded.trace().count(core::op::concat) == 1);

// Weights and biases of positions alone.
inline constexpr auto of_positions = kernel<"of_positions">(
    [](in<"V", batch, heads, kv, d_v> V, in<"X", batch, seq, d_model> X)
        -> outs<out<"O", batch, heads, seq, d_v>, out<"mean", batch, d_model>> {
      auto far = index(kv) - index(seq);
      auto near = softmax<kv>(far * far * -0.5);
      auto later = normalize<seq>(index(seq) + 1.0);
      return {dot<kv>(broadcast<batch, heads>(near), V), dot<seq>(broadcast<batch>(later), X)};
    });
static_assert(of_positions.trace().count(core::op::softmax) == 1);

}  // namespace accepted
