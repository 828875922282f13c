// SPDX-License-Identifier: BSL-1.0
// How far attention through landmarks and by random features is from full attention, by their
// number.
//
//   nystrom [FOLDER [time]]    draws there the error and the weights (the result for the
//                              identity as values); measures time
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <qkv/call.hpp>
#include <random>
#include <string>
#include <vector>

#include "examples/heat_map.hpp"
#include "examples/line_plot.hpp"
#include "examples/stopwatch.hpp"
#include "spec.hpp"

namespace {

using namespace qkv;
constexpr int heads = 4, d_k = 32, d_v = 64;

struct problem {
  tensor<my::heads, my::seq, my::d_k> Q;
  tensor<my::heads, my::kv, my::d_k> K;
  tensor<my::heads, my::kv, my::d_v> V;
  explicit problem(int n) : Q({n}), K({n}), V({n}) {}
};
using result = tensor<my::heads, my::seq, my::d_v>;

// Every feature is a sum of six random waves over the sequence: neighbours are alike, and so are
// queries and keys.
problem smooth(int n, bool identity = false) {
  problem p(n);
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  const auto waves = [&](auto set) {
    float a[6], b[6];
    for (int f = 0; f < 6; ++f) a[f] = normal(bits), b[f] = normal(bits);
    for (int i = 0; i < n; ++i) {
      float x = 0;
      for (int f = 0; f < 6; ++f) {
        const float angle = 2 * std::numbers::pi_v<float> * float((f + 1) * i) / float(n);
        x += 0.5f * (a[f] * std::cos(angle) + b[f] * std::sin(angle));
      }
      set(i, x);
    }
  };
  for (int h = 0; h < heads; ++h) {
    for (int k = 0; k < d_k; ++k) waves([&](int i, float x) { p.Q(h, i, k) = p.K(h, i, k) = x; });
    for (int k = 0; k < d_v; ++k)
      waves([&](int i, float x) { p.V(h, i, k) = identity ? float(i == k) : x; });
  }
  return p;
}

struct way {
  int landmarks;  // 0: full attention
  status (*call)(const problem &, result &);
};
template <auto Kernel>
status run(const problem &p, result &O) {
  return call<Kernel>(options{.threads = 1}, p.Q, p.K, p.V, O);
}
constexpr way ways[] = {{0, run<my::full>},
                        {8, run<my::landmarks_8>},
                        {16, run<my::landmarks_16>},
                        {32, run<my::landmarks_32>},
                        {64, run<my::landmarks_64>}};

// Root mean square of the difference, in parts of that of the result.
double distance(const result &exact, const result &O) {
  double off = 0, all = 0;
  for (const float *e = exact.begin(), *o = O.begin(); e != exact.end(); ++e, ++o) {
    off += (double(*o) - *e) * (double(*o) - *e);
    all += double(*e) * *e;
  }
  return std::sqrt(off / all);
}

// The mean distance of attention by so many random features, of eight draws; negative after an
// error.
double distance_by_features(int number, const problem &p, const result &exact) {
  constexpr int draws = 8;
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  tensor<my::feature, my::d_k> W({number});
  result O({p.Q.extent<my::seq>()});
  double sum = 0;
  for (int draw = 0; draw < draws; ++draw) {
    for (float &w : W) w = normal(bits);
    if (const status s = call<my::random_features>(p.Q, p.K, p.V, W, O); !s) {
      std::printf("%s\n", s.text());
      return -1;
    }
    sum += distance(exact, O);
  }
  return sum / draws;
}

void draw_weights(const std::string &path) {
  constexpr int n = d_v;
  const problem p = smooth(n, true);
  std::vector<examples::heat> panels;
  for (const way &w : ways) {
    if (w.landmarks == n) continue;
    result O({n});
    if (!w.call(p, O)) return;
    std::vector<float> weights(O.begin(), O.begin() + n * n);  // of the first head
    for (float &x : weights) x = std::max(x, 0.f);  // a product of three may fall below 0
    panels.push_back({w.landmarks ? fmt::format("{} landmarks", w.landmarks) : "full", n, weights});
  }
  std::ofstream(path) << examples::heat_map("Weights of 64 queries over 64 keys", panels, 3);
}

void measure(const std::string &path) {
  std::vector<double> n;
  std::vector<examples::line> lines = {{"full", "#c0392b", {}},
                                       {"8", "#85c1e9", {}},
                                       {"16", "#5499c7", {}},
                                       {"32", "#2471a3", {}},
                                       {"64", "#1a5276", {}}};
  std::printf("\n  tokens    full       8      16      32      64   landmarks, milliseconds\n");
  for (int tokens = 256; tokens <= 8192; tokens *= 2) {
    const problem p = smooth(tokens);
    result O({tokens});
    n.push_back(tokens);
    std::printf("%8d", tokens);
    for (std::size_t k = 0; k < std::size(ways); ++k) {
      lines[k].y.push_back(1e3 * examples::seconds([&] { (void)ways[k].call(p, O); }));
      std::printf("%8.2f", lines[k].y.back());
    }
    std::printf("\n");
  }
  std::ofstream(path) << examples::line_plot("4 heads, one thread", "tokens", "milliseconds", n,
                                             lines);
}

}  // namespace

int main(int argc, char **argv) {
  constexpr int n = 512;
  const problem p = smooth(n);
  result exact({n}), O({n});
  std::vector<double> count, error, error_of_features;
  for (const way &w : ways) {
    if (const status s = w.call(p, w.landmarks ? O : exact); !s) {
      std::printf("%s\n", s.text());
      return 1;
    }
    if (w.landmarks == 0) continue;
    count.push_back(w.landmarks), error.push_back(distance(exact, O));
    std::printf("%d tokens, %3d landmarks: %.2f %% off\n", n, w.landmarks, 100 * error.back());
  }
  for (int number = 8; number <= 512; number *= 2) {
    const double off = distance_by_features(number, p, exact);
    if (off < 0) return 1;
    if (number <= count.back()) error_of_features.push_back(off);
    std::printf("%d tokens, %3d random features: %.2f %% off\n", n, number, 100 * off);
  }
  // A landmark for another number of positions than the others: refused at the call.
  const problem odd = smooth(n + 1);
  result unused({n + 1});
  std::printf("%s\n", ways[1].call(odd, unused).text());
  if (argc < 2) return 0;
  const std::string folder = argv[1];
  draw_weights(folder + "/weights.svg");
  std::ofstream(folder + "/error.svg") << examples::line_plot(
      "512 tokens", "landmarks, random features", "error, in parts of the result", count,
      {{"landmarks", "#2471a3", error}, {"random features", "#c0392b", error_of_features}});
  if (argc > 2) measure(folder + "/time.svg");
}
