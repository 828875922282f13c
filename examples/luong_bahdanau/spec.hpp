// SPDX-License-Identifier: BSL-1.0
#pragma once
// The states of a decoder over the states of a source sentence: the scores of Luong et al. 2015
// (dot, general, concat) and of Bahdanau et al. 2015 (additive).
#include <qkv/dsl.hpp>

namespace my {
using namespace qkv;
inline constexpr batch_axis<"batch"> batch;
inline constexpr axis<"step"> step;      // of the decoder: one a call, or all at once
inline constexpr axis<"source"> source;  // words of the source sentence
inline constexpr axis<"d_h", 64> d_h;    // of the decoder's states
inline constexpr axis<"d_s", 64> d_s;    // of the encoder's
inline constexpr axis<"both", 128> both;
inline constexpr axis<"hidden", 64> hidden;

using query = in<"h", batch, step, d_h>;
using sources = in<"s", batch, source, d_s>;
using lengths = in<"length", i32, batch>;
using result = out<"context", batch, step, d_s>;

constexpr auto attend(auto scores, auto s, auto length) {
  return dot<source>(softmax<source>(mask(let<"scores">(scores), padding<source>(length))), s);
}

// h's: both states have one width.
inline constexpr auto dot_attention = kernel<"dot_attention">(
    [](query h, in<"s", batch, source, d_h> s, lengths length) -> out<"context", batch, step, d_h> {
      auto scores = luong_dot<d_h>(h, s);
      return attend(scores, s, length);
    });

// h'Ws
inline constexpr auto general_attention = kernel<"general_attention">(
    [](query h, sources s, lengths length, param<"W", d_h, d_s> W) -> result {
      auto general = luong_general<d_h, d_s>(h, W, s);
      return attend(general, s, length);
    });

// v' tanh(W [h; s])
inline constexpr auto concat_attention =
    kernel<"concat_attention">([](query h, sources s, lengths length, param<"W", both, hidden> W,
                                  param<"v", hidden> v) -> result {
      auto joined = luong_concat<both, d_h, d_s, hidden>(h, s, W, v);
      return attend(joined, s, length);
    });

// v' tanh(W h + U s)
inline constexpr auto additive_attention =
    kernel<"additive_attention">([](query h, sources s, lengths length, param<"W", d_h, hidden> W,
                                    param<"U", d_s, hidden> U, param<"v", hidden> v) -> result {
      auto additive = bahdanau<step, source, d_h, d_s, hidden>(h, s, W, U, v);
      return attend(additive, s, length);
    });

// Try this: each line alone is refused by the compiler, with this text.
//
//   auto scores = luong_dot<d_h>(h, h);      (the decoder's states as keys)
//     dot<d_h>: both sides carry step
//
//   auto general = luong_general<d_s, d_h>(h, W, s);      (W the other way round)
//     dot<d_s>: no axis d_s in h
//
//   auto joined = luong_concat<both, d_s, d_h, hidden>(h, s, W, v);
//     concat<both>: no axis d_s in h
//
//   auto additive = bahdanau<step, source, d_h, d_s, hidden>(h, s, U, W, v);
//     dot<d_h>: no axis d_h in U
}  // namespace my
