// SPDX-License-Identifier: BSL-1.0
// Compares both kernels with loops; given a folder, times them over n there and draws the times.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <qkv/call.hpp>
#include <random>
#include <vector>

#include "examples/line_plot.hpp"
#include "examples/stopwatch.hpp"
#include "spec.hpp"

namespace {

using tensor_q = qkv::tensor<my::heads, my::seq, my::d_k>;
using tensor_k = qkv::tensor<my::heads, my::kv, my::d_k>;
using tensor_v = qkv::tensor<my::heads, my::kv, my::d_v>;
using tensor_o = qkv::tensor<my::heads, my::seq, my::d_v>;

struct problem {
  explicit problem(int n) : Q({n}), K({n}), V({n}), O({n}) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float &x : Q) x = normal(random);
    for (float &x : K) x = normal(random);
    for (float &x : V) x = normal(random);
  }
  qkv::status softmax() {
    return qkv::call<my::softmax_attention>(qkv::options{.threads = 1}, Q, K, V, O);
  }
  qkv::status linear() {
    return qkv::call<my::linear_attention>(qkv::options{.threads = 1}, Q, K, V, O);
  }
  tensor_q Q;
  tensor_k K;
  tensor_v V;
  tensor_o O;
};

double weight(const problem &p, int h, int i, int j, bool linear) {
  double s = 0;
  const auto feature = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
  for (int d = 0; d < 64; ++d)
    s += linear ? feature(p.Q(h, i, d)) * feature(p.K(h, j, d))
                : double(p.Q(h, i, d)) * p.K(h, j, d);
  return linear ? s : std::exp(s / 8);
}

// The largest difference from the weighted mean of the values, in double precision.
double error_of(const problem &p, bool linear) {
  const auto n = static_cast<int>(p.Q.extent<my::seq>());
  double worst = 0;
  for (int h = 0; h < 8; ++h)
    for (int i = 0; i < n; ++i) {
      std::vector<double> mean(64);
      double total = 0;
      for (int j = 0; j < n; ++j) {
        const double w = weight(p, h, i, j, linear);
        total += w;
        for (int d = 0; d < 64; ++d) mean[static_cast<std::size_t>(d)] += w * p.V(h, j, d);
      }
      for (int d = 0; d < 64; ++d)
        worst = std::max(worst, std::abs(mean[static_cast<std::size_t>(d)] / total - p.O(h, i, d)));
    }
  return worst;
}

bool check(bool linear) {
  problem p(77);
  const qkv::status s = linear ? p.linear() : p.softmax();
  const bool right = s.ok() && error_of(p, linear) < 2e-6;
  std::printf("%-17s 8 heads x 77 tokens x 64: %s\n",
              linear ? "linear_attention" : "softmax_attention",
              right    ? "equal to the loop within 2e-6"
              : s.ok() ? "WRONG"
                       : s.text());
  return right;
}

void measure(const std::string &folder) {
  std::vector<double> n, softmax, linear;
  std::printf("\n%8s %14s %14s\n", "tokens", "softmax ms", "linear ms");
  for (int tokens = 128; tokens <= 8192; tokens *= 2) {
    problem p(tokens);
    n.push_back(tokens);
    softmax.push_back(1e3 * examples::seconds([&] { (void)p.softmax(); }));
    linear.push_back(1e3 * examples::seconds([&] { (void)p.linear(); }));
    std::printf("%8d %14.3f %14.3f\n", tokens, softmax.back(), linear.back());
  }
  const std::string path = folder + "/linear_vs_softmax.svg";
  std::ofstream(path) << examples::line_plot(
      "8 heads of 64, one thread", "tokens", "milliseconds", n,
      {{"softmax", "#c0392b", softmax}, {"linear", "#2471a3", linear}});
  std::printf("picture: %s\n", path.c_str());
}

}  // namespace

int main(int argc, char **argv) {
  const bool right = check(false) & check(true);
  if (right && argc > 1) measure(argv[1]);
  return right ? 0 : 1;
}
