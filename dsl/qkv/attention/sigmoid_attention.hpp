#pragma once
// Weights without a sum: each key is weighed on its own (Ramapuram et al. 2024).
#include <qkv/core/trial.hpp>
#include <qkv/core/weights.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>

namespace qkv {
namespace detail {

template <axes Key, class S, class V, class Bias>
struct sigmoid_attention_check {
  static constexpr text why() {
    message m;
    if (wrong_keys(m, {"sigmoid_attention", Key}, Key, of<S>)) return m;
    trial t;
    t("attention", rule::dot{Key}, t("scores", rule::binary<op::add>{}, of<S>, of<Bias>), of<V>);
    return t.why;
  }
};

}  // namespace detail

// Computes: sum over the keys of sigmoid(s + bias) v. The paper's bias is -log(number of keys):
//           sigmoid_attention<kv>(scores, V, -log(size(kv))).
// Shapes:   s[.., query, key], v[.., key, values] -> [.., query, values]; the bias is a number or
//           carries some axes of the scores
// Numerics: f32; masked keys have no weight.
// Errors:   as dot and addition; a causal mask whose keys are another axis.
template <an_axis auto Key, traced S, traced V, operand Bias>
  requires detail::passes<detail::sigmoid_attention_check<axes_of<Key>(), S, V, Bias>>
constexpr auto sigmoid_attention(S scores, V value, Bias bias) {
  return dot<Key>(sigmoid(scores + bias), value);
}
template <an_axis auto Key, traced S, traced V, operand Bias,
          class Err = detail::refusal<detail::sigmoid_attention_check<axes_of<Key>(), S, V, Bias>>>
Err sigmoid_attention(S, V, Bias);

}  // namespace qkv
