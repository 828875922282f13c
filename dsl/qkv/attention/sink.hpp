#pragma once
// Softmax with one more logit that has no value: a row may attend to nothing. Learned (gpt-oss:
// OpenAI 2025), or 0: "softmax plus one" (Miller 2023).
#include <limits>
#include <qkv/core/trial.hpp>
#include <qkv/ops/arithmetic.hpp>
#include <qkv/ops/dot.hpp>
#include <qkv/ops/functions.hpp>
#include <qkv/ops/reduce.hpp>
#include <qkv/ops/softmax.hpp>

namespace qkv {
namespace detail {

// softmax over Key, a product with the values, then a factor for each row.
template <axes Key, class S, class V, class... Sink>
struct sink_check {
  static constexpr text why() {
    trial t;
    t("attention", rule::dot{Key}, t("weights", rule::softmax{Key}, of<S>), of<V>);
    const info lse = t("logsumexp", rule::reduction<op::logsumexp>{Key}, of<S>);
    if constexpr (sizeof...(Sink) == 1) t("gate", rule::binary<op::sub>{}, lse, of<Sink>...);
    return t.why;
  }
};

}  // namespace detail

// Computes: sum over the keys of exp(s) v / (sum of exp(s) + exp(sink)), as softmax(s) v *
//           sigmoid(logsumexp(s) - sink), which needs no further pass over the keys.
// Shapes:   s[.., query, key], v[.., key, values] -> [.., query, values]; sink is a number or a
//           param along some axes of the rows, as param<"sink", heads>
// Numerics: as softmax, logsumexp and dot; rows with nothing left give 0, whatever the sink. A sink
//           of -inf is none.
// Errors:   as softmax, dot and subtraction.
template <an_axis auto Key, traced S, traced V, operand Sink>
  requires detail::passes<detail::sink_check<axes_of<Key>(), S, V, Sink>>
constexpr auto attend_with_sink(S scores, V value, Sink sink) {
  // of an empty row, finite: -inf less a sink of -inf would be NaN
  auto lse = max(logsumexp<Key>(scores), -std::numeric_limits<float>::max());
  return dot<Key>(softmax<Key>(scores), value) * sigmoid(lse - sink);
}
template <an_axis auto Key, traced S, traced V, operand Sink,
          class Err = detail::refusal<detail::sink_check<axes_of<Key>(), S, V, Sink>>>
Err attend_with_sink(S, V, Sink);

// Computes: sum over the keys of exp(s) v / (1 + sum of exp(s)).
// Shapes:   s[.., query, key], v[.., key, values] -> [.., query, values]
// Numerics: as attend_with_sink.
// Errors:   as softmax and dot.
template <an_axis auto Key, traced S, traced V>
  requires detail::passes<detail::sink_check<axes_of<Key>(), S, V>>
constexpr auto softmax_plus_one(S scores, V value) {
  return dot<Key>(softmax<Key>(scores), value) * sigmoid(logsumexp<Key>(scores));
}
template <an_axis auto Key, traced S, traced V,
          class Err = detail::refusal<detail::sink_check<axes_of<Key>(), S, V>>>
Err softmax_plus_one(S, V);

}  // namespace qkv
