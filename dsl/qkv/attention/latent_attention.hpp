#pragma once
// Multi-head latent attention: keys and values made of one short vector a position, which is all
// that a cache keeps (DeepSeek-V2: DeepSeek-AI 2024).
#include <qkv/attention/scaled_dot_product.hpp>

namespace qkv {
namespace detail {

template <axes Latent, axes Features, axes Rotated, axes Key, class Q, class R, class C, class Kr,
          class Wk, class Wv, class... Keep>
struct latent_attention_check {
  static constexpr text why() {
    trial t;
    const info k = t("keys", rule::dot{Latent}, of<C>, of<Wk>);
    const info v = t("values", rule::dot{Latent}, of<C>, of<Wv>);
    const info scores =
        t("scores", rule::binary<op::add>{}, t("content", rule::dot{Features}, of<Q>, k),
          t("position", rule::dot{Rotated}, of<R>, of<Kr>));
    t("attention", rule::dot{Key}, t("weights", rule::softmax{Key}, try_mask<Keep...>(t, scores)),
      v);
    return t.why;
  }
};

template <auto Latent, auto Features, auto Rotated, auto Key, class... T>
inline constexpr bool attends_latent =
    passes<latent_attention_check<axes_of<Latent>(), axes_of<Features>(), axes_of<Rotated>(),
                                  axes_of<Key>(), T...>>;
template <auto Latent, auto Features, auto Rotated, auto Key, class... T>
using attends_latent_not =
    refusal<latent_attention_check<axes_of<Latent>(), axes_of<Features>(), axes_of<Rotated>(),
                                   axes_of<Key>(), T...>>;

}  // namespace detail

// Computes: softmax((q k' + r r_k') / sqrt(size(features) + size(rotated))) v with k = c Wk and
//           v = c Wv; r and r_k carry the positions (see rope). Over the keys that keep, if it is
//           given, lets through.
// Shapes:   q[.., heads, query, features], r[.., heads, query, rotated], c[.., key, latent],
//           r_k[.., key, rotated], Wk[latent, heads, features], Wv[latent, heads, values] ->
//           [.., heads, query, values]
// Numerics: as softmax and dot.
// Errors:   as dot, addition, mask and softmax.
template <an_axis auto Latent, an_axis auto Features, an_axis auto Rotated, an_axis auto Key,
          traced Q, traced R, traced C, traced Kr, traced Wk, traced Wv, traced... Keep>
  requires(sizeof...(Keep) <= 1) &&
          detail::attends_latent<Latent, Features, Rotated, Key, Q, R, C, Kr, Wk, Wv, Keep...>
constexpr auto latent_attention(Q query, R rotated_query, C latent, Kr rotated_key, Wk wk, Wv wv,
                                Keep... keep) {
  auto content = dot<Features>(query, dot<Latent>(latent, wk));
  auto scores =
      (content + dot<Rotated>(rotated_query, rotated_key)) / sqrt(size(Features) + size(Rotated));
  auto value = dot<Latent>(latent, wv);
  if constexpr (sizeof...(Keep) == 1) {
    return dot<Key>(softmax<Key>(mask(scores, keep...)), value);
  } else {
    return dot<Key>(softmax<Key>(scores), value);
  }
}
template <an_axis auto Latent, an_axis auto Features, an_axis auto Rotated, an_axis auto Key,
          traced Q, traced R, traced C, traced Kr, traced Wk, traced Wv, traced... Keep,
          class Err = detail::attends_latent_not<Latent, Features, Rotated, Key, Q, R, C, Kr, Wk,
                                                 Wv, Keep...>>
  requires(sizeof...(Keep) <= 1)
Err latent_attention(Q, R, C, Kr, Wk, Wv, Keep...);

}  // namespace qkv
