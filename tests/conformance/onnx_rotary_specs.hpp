// SPDX-License-Identifier: BSL-1.0
#pragma once
// The ONNX operator RotaryEmbedding: the first features of every head turned pair by pair, the rest
// copied. There may be no rest; the tables of cosines and sines decide the number of pairs.
#include "onnx_specs.hpp"

namespace onnx {
inline constexpr axis<"features"> features;  // turned + rest
inline constexpr axis<"turned"> turned;      // 2 * pairs
inline constexpr axis<"rest"> rest;
inline constexpr axis<"pairs"> pairs;
inline constexpr axis<"two", 2> two;
inline constexpr axis<"positions"> positions;

using rotary_input = in<"X", batch, heads, seq, features>;
using rotary_result = out<"Y", batch, heads, seq, features>;

// (x, y) -> (x cos - y sin, x sin + y cos), x and y at the places 0 and 1 of `two`.
constexpr auto turn(auto x, auto c, auto s) {
  auto a = take<two>(x, 0), b = take<two>(x, 1);
  return where(index(two) == 0, a * c - b * s, a * s + b * c);
}
constexpr auto kept(auto X) { return slice<features, rest>(X, size(turned)); }

// Feature k with feature k + pairs.
constexpr auto halves(auto X, auto c, auto s) {
  auto x = split<turned, two, pairs>(slice<features, turned>(X, 0));
  return concat<features>(merge<turned, two, pairs>(turn(x, c, s)), kept(X));
}
// Feature 2 k with feature 2 k + 1.
constexpr auto neighbours(auto X, auto c, auto s) {
  auto x = split<turned, pairs, two>(slice<features, turned>(X, 0));
  return concat<features>(merge<turned, pairs, two>(turn(x, c, s)), kept(X));
}

// Tables by position, and the position of every token.
using table_of_cos = in<"cos", positions, pairs>;
using table_of_sin = in<"sin", positions, pairs>;
using position_of = in<"position", i32, batch, seq>;
inline constexpr auto rotary = kernel<"rotary">(
    [](rotary_input X, table_of_cos cos, table_of_sin sin, position_of at) -> rotary_result {
      return halves(X, take<positions>(cos, at), take<positions>(sin, at));
    });
inline constexpr auto rotary_interleaved = kernel<"rotary_interleaved">(
    [](rotary_input X, table_of_cos cos, table_of_sin sin, position_of at) -> rotary_result {
      return neighbours(X, take<positions>(cos, at), take<positions>(sin, at));
    });

// Cosines and sines of every token.
using cos_of_token = in<"cos", batch, seq, pairs>;
using sin_of_token = in<"sin", batch, seq, pairs>;
inline constexpr auto rotary_by_token = kernel<"rotary_by_token">(
    [](rotary_input X, cos_of_token cos, sin_of_token sin) -> rotary_result {
      return halves(X, cos, sin);
    });
inline constexpr auto rotary_by_token_interleaved = kernel<"rotary_by_token_interleaved">(
    [](rotary_input X, cos_of_token cos, sin_of_token sin) -> rotary_result {
      return neighbours(X, cos, sin);
    });
}  // namespace onnx
