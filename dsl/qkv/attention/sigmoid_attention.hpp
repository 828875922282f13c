// SPDX-License-Identifier: BSL-1.0
#pragma once
// Weights without a sum: each key is weighed on its own (Ramapuram et al. 2024).
#include <qkv/core/formula.hpp>
#include <qkv/core/weights.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>

namespace qkv {
namespace detail::rule {

// A causal mask must take these keys.
struct keys {
  axes over{};
  constexpr text check(const info &scores) const {
    message m;
    wrong_keys(m, {"sigmoid_attention", over}, over, scores);
    return m;
  }
};

}  // namespace detail::rule

// Computes: sum over the keys of sigmoid(s + bias) v. The paper's bias is -log(number of keys):
//           sigmoid_attention<kv>(scores, V, -log(size(kv))).
// Shapes:   s[.., query, key], v[.., key, values] -> [.., query, values]; the bias is a number or
//           carries some axes of the scores
// Numerics: f32; masked keys have no weight.
// Errors:   as dot and addition; a causal mask whose keys are another axis.
template <an_axis auto Key>
inline constexpr auto sigmoid_attention = formula<"sigmoid_attention(scores, value, bias)">(
    [](traced auto scores, traced auto value, operand auto bias) {
      auto seen = detail::expect<detail::rule::keys{core::axes_of<Key>()}>(scores);
      return dot<Key>(sigmoid(seen + bias), value);
    });

}  // namespace qkv
