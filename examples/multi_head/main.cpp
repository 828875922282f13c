// SPDX-License-Identifier: BSL-1.0
// Binds and packs the weights once, then calls with the changing inputs. Checks a promise of
// causality: later tokens change nothing before them, to the last bit.
#include <cstdio>
#include <qkv/call.hpp>
#include <random>

#include "spec.hpp"

namespace {

void randomise(auto &t, unsigned seed, float scale) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal(0, scale);
  for (float &x : t) x = normal(bits);
}

}  // namespace

int main() {
  using qkv::f32, qkv::tensor;
  const int batch = 1, n = 4;
  tensor<f32, my::d_model, my::heads, my::d_k> Wq, Wk;
  tensor<f32, my::d_model, my::heads, my::d_v> Wv;
  tensor<f32, my::heads, my::d_v, my::d_model> Wo;
  tensor<f32, my::d_model> bo;
  randomise(Wq, 1, 0.04f), randomise(Wk, 2, 0.04f), randomise(Wv, 3, 0.04f);
  randomise(Wo, 4, 0.04f), randomise(bo, 5, 0.1f);

  const auto mha = qkv::prepare<my::mha>(Wq, Wk, Wv, Wo, bo);
  tensor<f32, my::batch, my::seq, my::d_model> X({batch, n}), Y({batch, n}), Z({batch, n});
  randomise(X, 6, 1);
  if (const qkv::status s = mha(X, Y); !s) {
    std::printf("%s\n", s.text());
    return 1;
  }
  for (int c = 0; c < 512; ++c) X(0, n - 1, c) += 1;  // another last token
  if (const qkv::status s = mha(X, Z); !s) {
    std::printf("%s\n", s.text());
    return 1;
  }
  int same = 0;
  for (int i = 0; i < n; ++i) {
    bool equal = true;
    for (int c = 0; c < 512; ++c) equal = equal && Y(0, i, c) == Z(0, i, c);
    same += equal;
  }
  std::printf("another token %d: %d of the %d results before it are the same, to the bit\n", n,
              same, n - 1);
  return same == n - 1 ? 0 : 1;
}
