// SPDX-License-Identifier: BSL-1.0
// Binds the weights once, attends from 5 queries to 9 pairs of keys and values of other widths,
// compares with a loop. Keys and values in another order give the same.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <qkv/call.hpp>
#include <random>
#include <vector>

#include "spec.hpp"

namespace {

using namespace qkv;
constexpr int batch = 2, n = 5, m = 9, heads = 4, d_k = 16, d_v = 24;

void randomise(auto &t, unsigned seed, float scale) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal(0, scale);
  for (float &x : t) x = normal(bits);
}

struct problem {
  tensor<my::batch, my::seq, my::d_query> X{{batch, n}};
  tensor<my::batch, my::mem, my::d_key> E{{batch, m}};
  tensor<my::batch, my::mem, my::d_value> F{{batch, m}};
  tensor<my::d_query, my::heads, my::d_k> Wq;
  tensor<my::d_key, my::heads, my::d_k> Wk;
  tensor<my::d_value, my::heads, my::d_v> Wv;
  tensor<my::heads, my::d_k> bq, bk;
  tensor<my::heads, my::d_v> bv;
  tensor<my::heads, my::d_v, my::d_out> Wo;
  problem() {
    randomise(X, 1, 1), randomise(E, 2, 1), randomise(F, 3, 1);
    randomise(Wq, 4, 0.15f), randomise(Wk, 5, 0.15f), randomise(Wv, 6, 0.15f);
    randomise(bq, 7, 0.1f), randomise(bk, 8, 0.1f), randomise(bv, 9, 0.1f), randomise(Wo, 10, 0.1f);
  }
};

using result = tensor<my::batch, my::seq, my::d_out>;

// Feature c of head h of row i of x W + b.
template <class X, class W, class B>
double projected(const X &x, const W &w, const B &b, int at, int i, int h, int c) {
  double sum = b(h, c);
  for (int k = 0; k < x.extent(2); ++k) sum += double(x(at, i, k)) * w(k, h, c);
  return sum;
}

// The largest difference from the formula in double precision.
double error_of(const problem &p, const result &Y) {
  double worst = 0;
  for (int b = 0; b < batch; ++b)
    for (int i = 0; i < n; ++i) {
      std::vector<double> y(80);
      for (int h = 0; h < heads; ++h) {
        std::vector<double> context(d_v);
        double total = 0;
        for (int j = 0; j < m; ++j) {
          double score = 0;
          for (int c = 0; c < d_k; ++c)
            score +=
                projected(p.X, p.Wq, p.bq, b, i, h, c) * projected(p.E, p.Wk, p.bk, b, j, h, c);
          const double w = std::exp(score / 4);
          total += w;
          for (int c = 0; c < d_v; ++c)
            context[static_cast<std::size_t>(c)] += w * projected(p.F, p.Wv, p.bv, b, j, h, c);
        }
        for (std::size_t o = 0; o < y.size(); ++o)
          for (int c = 0; c < d_v; ++c)
            y[o] += context[static_cast<std::size_t>(c)] / total * p.Wo(h, c, o);
      }
      for (std::size_t o = 0; o < y.size(); ++o)
        worst = std::max(worst, std::abs(y[o] - Y(b, i, o)));
    }
  return worst;
}

// The rows of every sequence from the last to the first.
template <class T>
T reversed(const T &t) {
  T r = t;
  for (int b = 0; b < batch; ++b)
    for (int j = 0; j < m; ++j)
      for (int c = 0; c < t.extent(2); ++c) r(b, j, c) = t(b, m - 1 - j, c);
  return r;
}

}  // namespace

int main() {
  const problem p;
  const auto cross = prepare<my::cross>(p.Wq, p.bq, p.Wk, p.bk, p.Wv, p.bv, p.Wo);
  result Y({batch, n}), Z({batch, n});
  status s = cross(p.X, p.E, p.F, Y);
  if (s) s = cross(p.X, reversed(p.E), reversed(p.F), Z);
  if (!s) {
    std::printf("%s\n", s.text());
    return 1;
  }
  const bool right = error_of(p, Y) < 2e-6;
  std::printf("%d queries of 48 features, %d keys of 40, %d values of 56 -> %d results of 80: %s\n",
              n, m, m, n, right ? "equal to the loop within 2e-6" : "WRONG");
  float apart = 0;
  for (const float *y = Y.begin(), *z = Z.begin(); y != Y.end(); ++y, ++z)
    apart = std::max(apart, std::abs(*y - *z));
  std::printf("keys and values in reverse order: %s\n",
              apart < 2e-6f ? "the same within 2e-6" : "WRONG");

  // As many values as keys is for the call to check; widths are for the compiler:
  //   cross(p.X, p.F, p.E, Y);      does not compile: E is expected, F was given
  const tensor<my::batch, my::mem, my::d_value> fewer({batch, m - 1});
  std::printf("%s\n", cross(p.X, p.E, fewer, Y).text());
  return right && apart < 2e-6f ? 0 : 1;
}
