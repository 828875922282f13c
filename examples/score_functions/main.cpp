// SPDX-License-Identifier: BSL-1.0
// The weights of 32 queries over 32 keys under each score function. No kernel stores them: with the
// identity as values the result is the weights. Compares them with loops; given a folder, draws
// them there.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <qkv/call.hpp>
#include <random>
#include <string>

#include "examples/heat_map.hpp"
#include "spec.hpp"

namespace {

using namespace qkv;
constexpr int n = 32, heads = 4, d_k = 16;
constexpr int begins[] = {0, 5, 14, 22};  // the documents
constexpr float caps[heads] = {50, 4, 2, 1};

struct problem {
  tensor<my::heads, my::seq, my::d_k> Q{{n}};
  tensor<my::heads, my::kv, my::d_k> K{{n}};
  tensor<my::kv, my::d_v> identity{{n}};
  tensor<my::heads> cap;
  tensor<i32, my::seq> id{{n}};
  // Every head has the same random queries and keys; flat: no key is like any query.
  explicit problem(bool flat) {
    std::mt19937 bits(1);
    std::normal_distribution<float> normal(0, flat ? 0 : 1.3f);
    for (int i = 0; i < n; ++i) {
      identity(i, i) = 1;
      for (int b : begins) id(i) += i >= b;
      for (int k = 0; k < d_k; ++k) {
        const float q = normal(bits), key = normal(bits);
        for (int h = 0; h < heads; ++h) Q(h, i, k) = q, K(h, i, k) = key;
      }
    }
    for (int h = 0; h < heads; ++h) cap(h) = caps[h];
  }
};

using weights = tensor<my::heads, my::seq, my::d_v>;

struct function {
  const char *name, *title;
  bool flat;
  std::vector<std::string> heads;  // captions; fewer where the others look the same
  std::function<status(const problem &, weights &)> call;
  std::function<double(double score, int h, int i, int j)> score;  // of a key that is not later
};

constexpr double hidden = -INFINITY;

int document_of(int i) {
  return static_cast<int>(
      std::count_if(std::begin(begins), std::end(begins), [&](int b) { return i >= b; }));
}

const std::vector<function> all = {
    {"with_alibi",
     "ALiBi: all scores 0, the farther the less",
     true,
     {"slope 1/4", "slope 1/16", "slope 1/64", "slope 1/256"},
     [](const problem &p, weights &W) { return call<my::with_alibi>(p.Q, p.K, p.identity, W); },
     [](double s, int h, int i, int j) { return s - std::pow(0.25, h + 1) * (i - j); }},
    {"with_softcap",
     "Softcap: the same random scores, capped",
     false,
     {"cap 50", "cap 4", "cap 2", "cap 1"},
     [](const problem &p, weights &W) {
       return call<my::with_softcap>(p.Q, p.K, p.identity, p.cap, W);
     },
     [](double s, int h, int, int) { return caps[h] * std::tanh(s / caps[h]); }},
    {"with_window",
     "Sliding window: all scores 0, the last keys only",
     true,
     {"4 keys", "8 keys", "12 keys", "16 keys"},
     [](const problem &p, weights &W) { return call<my::with_window>(p.Q, p.K, p.identity, W); },
     [](double s, int h, int i, int j) { return i - j < 4 * (h + 1) ? s : hidden; }},
    {"with_documents",
     "Documents: all scores 0",
     true,
     {"of 5, 9, 8 and 10 tokens"},
     [](const problem &p, weights &W) {
       return call<my::with_documents>(p.Q, p.K, p.identity, p.id, W);
     },
     [](double s, int, int i, int j) { return document_of(i) == document_of(j) ? s : hidden; }}};

double error_of(const function &f, const problem &p, const weights &W) {
  double worst = 0;
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < n; ++i) {
      double w[n] = {}, total = 0;
      for (int j = 0; j <= i; ++j) {
        double score = 0;
        for (int k = 0; k < d_k; ++k) score += double(p.Q(h, i, k)) * p.K(h, j, k) / 4;
        total += w[j] = std::exp(f.score(score, h, i, j));
      }
      for (int j = 0; j < n; ++j) worst = std::max(worst, std::abs(w[j] / total - W(h, i, j)));
    }
  return worst;
}

// Prints how many keys the last query sees, and its largest weight.
void print_last_row(const function &f, const weights &W) {
  for (std::size_t h = 0; h < f.heads.size(); ++h) {
    int seen = 0;
    float largest = 0;
    for (int j = 0; j < n; ++j) {
      seen += W(h, n - 1, j) != 0;
      largest = std::max(largest, W(h, n - 1, j));
    }
    std::printf("  %-24s the last query sees %2d keys, the largest weight is %.2f\n",
                f.heads[h].c_str(), seen, double(largest));
  }
}

void draw(const std::string &path, const function &f, const weights &W) {
  std::vector<examples::heat> panels;
  for (std::size_t h = 0; h < f.heads.size(); ++h) {
    const float *first = W.data() + h * n * n;
    panels.push_back({f.heads[h], n, {first, first + n * n}});
  }
  std::ofstream(path) << examples::heat_map(f.title, panels, 6);
}

}  // namespace

int main(int argc, char **argv) {
  for (const function &f : all) {
    const problem p(f.flat);
    weights W({n});
    const status s = f.call(p, W);
    const bool right = s.ok() && error_of(f, p, W) < 1e-6;
    std::printf("%-14s %s\n", f.name,
                right    ? "equal to the loop within 1e-6"
                : s.ok() ? "WRONG"
                         : s.text());
    if (!right) return 1;
    print_last_row(f, W);
    if (argc > 1) draw(std::string(argv[1]) + "/" + f.name + ".svg", f, W);
  }
}
