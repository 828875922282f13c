// SPDX-License-Identifier: BSL-1.0
// Scores of random queries and keys, and their largest weights, with and without the division by
// sqrt(d_k). Compares them with loops.
//
//   scaling [FOLDER]    draws scaling.svg there
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <qkv/call.hpp>
#include <random>
#include <string>
#include <vector>

#include "examples/line_plot.hpp"
#include "spec.hpp"

namespace {

using namespace qkv;
constexpr int n_queries = 256, n_keys = 64;

struct statistics {
  double variance = 0, largest = 0;  // of scores; of the weights of a query, on average
};

struct problem {
  tensor<my::query, my::d_k> Q;
  tensor<my::key, my::d_k> K;
  int d;

  explicit problem(int features) : Q({n_queries, features}), K({n_keys, features}), d(features) {
    std::mt19937 bits(1);
    std::normal_distribution<float> normal;
    for (float &x : Q) x = normal(bits);
    for (float &x : K) x = normal(bits);
  }

  // By loops in double precision.
  statistics expected(double scale) const {
    statistics all;
    for (int i = 0; i < n_queries; ++i) {
      std::vector<double> scores;
      for (int j = 0; j < n_keys; ++j) {
        double s = 0;
        for (int k = 0; k < d; ++k) s += double(Q(i, k)) * K(j, k);
        scores.push_back(s * scale);
        all.variance += scores.back() * scores.back() / (n_queries * n_keys);
      }
      const double most = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double s : scores) sum += std::exp(s - most);
      all.largest += 1 / sum / n_queries;
    }
    return all;
  }
};

double mean(const tensor<my::query> &x) {
  double sum = 0;
  for (float v : x) sum += v;
  return sum / n_queries;
}

bool near(const statistics &a, const statistics &b) {
  return std::abs(a.variance / b.variance - 1) < 1e-5 && std::abs(a.largest / b.largest - 1) < 1e-5;
}

}  // namespace

int main(int argc, char **argv) {
  std::vector<double> features;
  std::vector<examples::line> lines = {{"variance", "#c0392b", {}},
                                       {"over sqrt(d_k)", "#e6b0aa", {}},
                                       {"largest weight", "#1a5276", {}},
                                       {"over sqrt(d_k)", "#85c1e9", {}}};
  std::printf("        scores               divided by sqrt(d_k)\n");
  std::printf(" d_k    variance   largest   variance   largest weight\n");
  for (int d = 4; d <= 512; d *= 2) {
    const problem p(d);
    tensor<> variance, scaled_variance;
    tensor<my::query> largest({n_queries}), scaled_largest({n_queries});
    if (const status s =
            call<my::scaling>(p.Q, p.K, variance, scaled_variance, largest, scaled_largest);
        !s) {
      std::printf("%s\n", s.text());
      return 1;
    }
    const statistics raw{*variance.begin(), mean(largest)},
        scaled{*scaled_variance.begin(), mean(scaled_largest)};
    if (!near(raw, p.expected(1)) || !near(scaled, p.expected(1 / std::sqrt(d)))) {
      std::printf("d_k = %d: the loops say otherwise\n", d);
      return 1;
    }
    std::printf("%4d %11.1f %9.2f %10.2f %9.2f\n", d, raw.variance, raw.largest, scaled.variance,
                scaled.largest);
    features.push_back(d);
    const double y[] = {raw.variance, scaled.variance, raw.largest, scaled.largest};
    for (std::size_t k = 0; k < lines.size(); ++k) lines[k].y.push_back(y[k]);
  }
  if (argc > 1)
    std::ofstream(std::string(argv[1]) + "/scaling.svg")
        << examples::line_plot("256 random queries, 64 random keys", "d_k", "", features, lines);
}
