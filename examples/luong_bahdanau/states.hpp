// SPDX-License-Identifier: BSL-1.0
#pragma once
// Two sentences as states, and weights for the four scores: made by hand, nothing is learned.
#include <qkv/tensor.hpp>
#include <random>
#include <string>
#include <vector>

#include "spec.hpp"

namespace states {

inline constexpr int words = 13, steps = 14, batch = 2, width = 64;
inline constexpr int code = 31, one = 31,
                     number = 32;  // what stands where in a state of the encoder

inline const std::vector<std::string> source = {
    "the", "agreement", "on", "the",    "European", "Economic", "Area",
    "was", "signed",    "in", "August", "1992",     "."};
inline const std::vector<std::string> target = {"l'",         "accord",     "sur",  "la",  "zone",
                                                "économique", "européenne", "a",    "été", "signé",
                                                "en",         "août",       "1992", "."};
inline constexpr int translates[steps] = {0, 1, 2, 3, 6, 5, 4, 7, 7, 8, 9, 10, 11, 12};

struct problem {
  qkv::tensor<my::batch, my::step, my::d_h> h{{batch, steps}};
  qkv::tensor<my::batch, my::source, my::d_s> s{{batch, words}};
  qkv::tensor<qkv::i32, my::batch> length{{batch}};
  qkv::tensor<my::d_h, my::d_s> general;
  qkv::tensor<my::both, my::hidden> W;
  qkv::tensor<my::hidden> v;
  // W in two parts, where they are.
  qkv::const_tensor_view<my::d_h, my::hidden> W_of_h{W.data()};
  qkv::const_tensor_view<my::d_s, my::hidden> W_of_s{W.data() + width * width};

  // A word's code is 31 random numbers. The encoder's state holds the code, a one, and from feature
  // 32 on a one at the place of the word, so that the context shows the weights. The decoder's
  // holds the code of the word that it translates, in reverse order: its features are not the
  // encoder's. The second sentence has 7 words; what lies behind them is noise.
  problem() {
    std::mt19937 bits(1);
    std::normal_distribution<float> normal;
    for (int b = 0; b < batch; ++b) {
      length(b) = b == 0 ? words : 7;
      for (int j = 0; j < words; ++j) {
        for (int k = 0; k < code; ++k) s(b, j, k) = normal(bits);
        s(b, j, one) = 1;
        s(b, j, number + j) = 1;
      }
      for (int i = 0; i < steps; ++i)
        for (int k = 0; k < code; ++k)
          h(b, i, code - 1 - k) = s(b, translates[i], k) + 0.3f * normal(bits);
    }
    for (int k = 0; k < code; ++k) {
      general(code - 1 - k, k) = 0.3f;
      // v' tanh(..): the sum over k of tanh(h_k - s_k + 1) - tanh(h_k - s_k - 1), largest where all
      // h_k = s_k
      for (int side : {0, 1}) {
        const int unit = 2 * k + side;
        W(code - 1 - k, unit) = 1;
        W(width + k, unit) = -1;
        W(width + one, unit) = side ? -1.f : 1.f;
        v(unit) = side ? -0.5f : 0.5f;
      }
    }
  }
};

}  // namespace states
