// SPDX-License-Identifier: BSL-1.0
// Runs both kernels on random numbers and compares them with a loop that anyone can read.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <qkv/call.hpp>
#include <random>
#include <vector>

#include "spec.hpp"

namespace {

using qkv::f32;
using tensor_q = qkv::tensor<f32, my::batch, my::heads, my::seq, my::d_k>;
using tensor_k = qkv::tensor<f32, my::batch, my::heads, my::kv, my::d_k>;
using tensor_v = qkv::tensor<f32, my::batch, my::heads, my::kv, my::d_v>;
using tensor_o = qkv::tensor<f32, my::batch, my::heads, my::seq, my::d_v>;

// The largest difference from softmax(Q K' / sqrt(d_k)) V computed in double precision.
double error_of(const tensor_o &O, const tensor_q &Q, const tensor_k &K, const tensor_v &V,
                bool causal) {
  double worst = 0;
  const auto n = Q.extent<my::seq>();
  std::vector<double> weights(static_cast<std::size_t>(n));
  for (int b = 0; b < Q.extent<my::batch>(); ++b)
    for (int h = 0; h < Q.extent<my::heads>(); ++h)
      for (int i = 0; i < n; ++i) {
        const int keys = causal ? i + 1 : static_cast<int>(n);
        double top = -INFINITY, total = 0;
        for (int j = 0; j < keys; ++j) {
          double score = 0;
          for (int d = 0; d < 64; ++d) score += double(Q(b, h, i, d)) * K(b, h, j, d);
          weights[static_cast<std::size_t>(j)] = score / 8;
          top = std::max(top, score / 8);
        }
        for (int j = 0; j < keys; ++j) {
          double &w = weights[static_cast<std::size_t>(j)];
          total += w = std::exp(w - top);
        }
        for (int d = 0; d < 64; ++d) {
          double expected = 0;
          for (int j = 0; j < keys; ++j)
            expected += weights[static_cast<std::size_t>(j)] / total * V(b, h, j, d);
          worst = std::max(worst, std::abs(expected - O(b, h, i, d)));
        }
      }
  return worst;
}

}  // namespace

int main() {
  const int batch = 2, n = 100;
  tensor_q Q({batch, n});
  tensor_k K({batch, n});
  tensor_v V({batch, n});
  tensor_o O({batch, n});
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  for (float &x : Q) x = normal(bits);
  for (float &x : K) x = normal(bits);
  for (float &x : V) x = normal(bits);

  for (bool causal : {false, true}) {
    const qkv::status s = causal ? qkv::call<my::causal_attention>(Q, K, V, O)
                                 : qkv::call<my::self_attention>(Q, K, V, O);
    if (!s) {
      std::printf("%s\n", s.text());
      return 1;
    }
    const double error = error_of(O, Q, K, V, causal);
    std::printf("%-17s %d x 8 heads x %d tokens x 64: %s\n",
                causal ? "causal_attention" : "self_attention", batch, n,
                error < 2e-6 ? "equal to the loop within 2e-6" : "WRONG");
    if (!(error < 2e-6)) return 1;
  }

  // Wrong calls do not compile, or answer with a status:
  //   qkv::call<my::self_attention>(Q, V, K, O);      does not compile: K is expected, V was given
  tensor_k short_keys({batch, n - 1});
  std::printf("%s\n", qkv::call<my::self_attention>(Q, short_keys, V, O).text());
}
