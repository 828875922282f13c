// SPDX-License-Identifier: BSL-1.0
#pragma once
// Attention as a flow: tokens on a circle move towards what they attend to, and gather in clusters.
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr axis<"token"> token;
inline constexpr alias<"other", token> other;  // the same tokens, as keys and values
inline constexpr axis<"xy", 2> xy;

// One step: towards the mean of all tokens, weighted by attention, and back onto the circle.
constexpr auto moved(auto X, auto beta, auto rate) {
  auto all = rename<token, other>(X);
  auto mean = dot<other>(softmax<other>(beta * dot<xy>(X, all)), all);
  return unit_length<xy>(X + rate * mean);
}

using start = in<"X", token, xy>;
template <str Name>
using after = out<Name, token, xy>;

// Eight layers of attention as one kernel, which gives the positions after each.
inline constexpr auto flow =
    kernel<"flow">([](start X, in<"beta"> beta,
                      in<"rate"> rate) -> outs<after<"X1">, after<"X2">, after<"X3">, after<"X4">,
                                               after<"X5">, after<"X6">, after<"X7">, after<"X8">> {
      auto x1 = moved(X, beta, rate);
      auto x2 = moved(x1, beta, rate);
      auto x3 = moved(x2, beta, rate);
      auto x4 = moved(x3, beta, rate);
      auto x5 = moved(x4, beta, rate);
      auto x6 = moved(x5, beta, rate);
      auto x7 = moved(x6, beta, rate);
      auto x8 = moved(x7, beta, rate);
      return {x1, x2, x3, x4, x5, x6, x7, x8};
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto mean = dot<other>(softmax<other>(beta * dot<xy>(X, X)), all);      (no second name)
//     dot<xy>: both sides carry token
//
//   auto mean = dot<other>(softmax<token>(beta * dot<xy>(X, all)), all);
//     dot<other> contracts weights over token
//
//   return unit_length<other>(X + rate * mean);
//     unit_length<other>: no axis other in X + (rate * dot
}  // namespace my
