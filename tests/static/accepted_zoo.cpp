// SPDX-License-Identifier: BSL-1.0
// Layers of known models, written with the functions of attention/: none of it may be refused.
#include "spec.hpp"

namespace accepted {

using namespace spec;

constexpr axis<"two", 2> two;
constexpr axis<"pair", 2> in_pairs;
constexpr axis<"half", 32> half;
constexpr axis<"buckets", 32> buckets;
constexpr axis<"latent", 512> latent;
constexpr axis<"content", 128> content;
constexpr axis<"rotated", 64> rotated;
constexpr axis<"d_value", 128> d_value;
constexpr batch_axis<"q_heads", 16> q_heads;
constexpr axis<"l", 32> l;
constexpr alias<"m", l> m;
constexpr alias<"s", l> s;
constexpr axis<"segment"> segment;

using X_ = in<"X", batch, seq, d_model>;
using Y_ = out<"Y", batch, seq, d_model>;
using Q_ = in<"Q", batch, heads, seq, d_k>;
using K_ = in<"K", batch, heads, kv, d_k>;
using V_ = in<"V", batch, heads, kv, d_v>;
using O_ = out<"O", batch, heads, seq, d_v>;
template <str Name>
using to_heads = param<Name, d_model, heads, d_k>;

// Pre-norm block: rms_norm, multi-head attention with biases, residual.
inline constexpr auto block =
    kernel<"block">([](X_ X, to_heads<"Wq"> Wq, to_heads<"Wk"> Wk, to_heads<"Wv"> Wv,
                       param<"Wo", heads, d_k, d_model> Wo, param<"bo", d_model> bo,
                       param<"gamma", d_model> gamma, in<"length", i32, batch> length) -> Y_ {
      auto x = rms_norm<d_model>(X, gamma);
      return X + multi_head<d_model, seq, kv, heads, d_k, d_k>(
                     x, Wq, Wk, Wv, with_bias(Wo, bo), causal<seq, kv> and padding<kv>(length));
    });

// Grouped heads, turned by position, with a sink, in a window: as in gpt-oss.
inline constexpr auto windowed =
    kernel<"windowed">([](in<"Q", batch, q_heads, seq, d_k> Q, K_ K, V_ V,
                          param<"sink", heads, two> sink) -> out<"O", batch, q_heads, seq, d_v> {
      auto of_q = rope_angle<seq, half>(150000);
      auto of_k = rope_angle<kv, half>(150000);
      auto q = split<q_heads, heads, two>(Q);
      auto s = dot<d_k>(rope<d_k, in_pairs, half>(q, cos(of_q), sin(of_q)),
                        rope<d_k, in_pairs, half>(K, cos(of_k), sin(of_k))) /
               sqrt(d_k);
      auto kept = mask(s, causal<seq, kv> and sliding_window<seq, kv>(128));
      return merge<q_heads, heads, two>(attend_with_sink<kv>(kept, V, sink));
    });

// Latent attention at the sizes of DeepSeek-V2: d_k 192 = 128 + 64, d_v 128.
inline constexpr auto latent_layer = kernel<"latent_layer">(
    [](in<"q", batch, heads, seq, content> q, in<"r", batch, heads, seq, rotated> r,
       in<"c", batch, kv, latent> c, in<"rk", batch, kv, rotated> rk,
       param<"Wk", latent, heads, content> Wk,
       param<"Wv", latent, heads, d_value> Wv) -> out<"O", batch, heads, seq, d_value> {
      auto of_q = rope_angle<seq, half>();
      auto of_k = rope_angle<kv, half>();
      return latent_attention<latent, content, rotated, kv>(
          q, rope_interleaved<rotated, two, half>(r, cos(of_q), sin(of_q)), c,
          rope_interleaved<rotated, two, half>(rk, cos(of_k), sin(of_k)), Wk, Wv, causal<seq, kv>);
    });

// T5's decoder; Gemma 2's scores; BLOOM's biases; Longformer's mask.
inline constexpr auto t5 =
    kernel<"t5">([](Q_ Q, K_ K, V_ V, param<"table", heads, buckets> table) -> O_ {
      auto s = dot<d_k>(Q, K) + t5_causal_bias<seq, kv, buckets>(table);
      return dot<kv>(softmax<kv>(mask(s, causal<seq, kv>)), V);
    });
inline constexpr auto gemma = kernel<"gemma">([](Q_ Q, K_ K, V_ V) -> O_ {
  auto s = softcap(dot<d_k>(Q, K) / sqrt(d_k), 50);
  return dot<kv>(softmax<kv>(mask(s, causal<seq, kv>)), V);
});
inline constexpr auto bloom = kernel<"bloom">([](Q_ Q, K_ K, V_ V) -> O_ {
  auto s = dot<d_k>(Q, K) / sqrt(d_k) + alibi<seq, kv>(alibi_slopes(heads));
  return dot<kv>(softmax<kv>(mask(s, causal<seq, kv>)), V);
});
inline constexpr auto longformer =
    kernel<"longformer">([](Q_ Q, K_ K, V_ V, in<"id", i32, batch, seq> id) -> O_ {
      return scaled_dot_product<d_k, kv>(Q, K, V,
                                         global_window<seq, kv>(256, 1) and document<seq, kv>(id));
    });
inline constexpr auto landmarks = kernel<"landmarks">(
    [](Q_ Q, K_ K, V_ V) -> O_ { return nystrom<d_k, seq, kv, l, m, s, segment>(Q, K, V); });

static_assert(block.trace().count(core::op::dot) == 6 &&
              windowed.trace().count(core::op::logsumexp) == 1 &&
              latent_layer.trace().count(core::op::mask) == 1 &&
              landmarks.trace().count(core::op::softmax) == 3);

}  // namespace accepted
