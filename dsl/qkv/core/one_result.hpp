// SPDX-License-Identifier: BSL-1.0
#pragma once
// auto [o, weights] = softmax<kv>(scores): a step has one result and cannot be taken apart.
#include <cstddef>
#include <tuple>

#include <qkv/core/call.hpp>

namespace qkv::detail {

template <const info &Facts>
struct taken_apart {
  static constexpr text why() {
    message m;
    m.say(Facts.label, " is one result, not several").say("give it one name: auto o = ..;");
    return m;
  }
};

}  // namespace qkv::detail

// Structured bindings require these. Two parts: most people who take a step apart expect two
// results.
template <class W, const qkv::core::info &F>
struct std::tuple_size<qkv::expr<W, F>> {
  static constexpr std::size_t value = 2;
};
template <std::size_t I, class W, const qkv::core::info &F>
struct std::tuple_element<I, qkv::expr<W, F>> {
  using type = qkv::detail::refusal<qkv::detail::taken_apart<F>>;
};

namespace qkv {

template <std::size_t, class W, const core::info &F,
          class Err = detail::refusal<detail::taken_apart<F>>>
Err get(const expr<W, F> &);

}  // namespace qkv
