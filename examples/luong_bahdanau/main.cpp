// SPDX-License-Identifier: BSL-1.0
// Aligns the words of two sentences by four scores, one query at a time as a decoder does, compares
// them with loops, and prints how much memory each takes. Given a folder, draws the weights there.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <qkv/call.hpp>

#include "examples/heat_map.hpp"
#include "states.hpp"

namespace {

using namespace qkv;
using queries = tensor<my::batch, my::step, my::d_h>;
using contexts = tensor<my::batch, my::step, my::d_s>;
using states::problem;

struct scores {
  const char *name;
  std::function<status(const problem &, const queries &, contexts &)> call;
  std::function<double(const problem &, int b, int i, int j)> score;
};

double luong(const problem &p, bool general, int b, int i, int j) {
  double x = 0;
  for (int k = 0; k < states::width; ++k) {
    double hW = general ? 0 : p.h(b, i, k);
    for (int l = 0; general && l < states::width; ++l) hW += double(p.h(b, i, l)) * p.general(l, k);
    x += hW * p.s(b, j, k);
  }
  return x;
}

double additive(const problem &p, int b, int i, int j) {
  double x = 0;
  for (int unit = 0; unit < states::width; ++unit) {
    double sum = 0;
    for (int k = 0; k < states::width; ++k)
      sum +=
          double(p.h(b, i, k)) * p.W(k, unit) + double(p.s(b, j, k)) * p.W(states::width + k, unit);
    x += p.v(unit) * std::tanh(sum);
  }
  return x;
}

const std::vector<scores> all = {
    {"dot",
     [](const problem &p, const queries &h, contexts &c) {
       auto context = view_as<my::batch, my::step, my::d_h>(c);
       return call<my::dot_attention>(h, view_as<my::batch, my::source, my::d_h>(p.s), p.length,
                                      context);
     },
     [](const problem &p, int b, int i, int j) { return luong(p, false, b, i, j); }},
    {"general",
     [](const problem &p, const queries &h, contexts &c) {
       return call<my::general_attention>(h, p.s, p.length, p.general, c);
     },
     [](const problem &p, int b, int i, int j) { return luong(p, true, b, i, j); }},
    {"concat",
     [](const problem &p, const queries &h, contexts &c) {
       return call<my::concat_attention>(h, p.s, p.length, p.W, p.v, c);
     },
     additive},
    {"additive",
     [](const problem &p, const queries &h, contexts &c) {
       return call<my::additive_attention>(h, p.s, p.length, p.W_of_h, p.W_of_s, p.v, c);
     },
     additive}};

// One query after the other.
status step_by_step(const scores &kind, const problem &p, contexts &c) {
  queries h({states::batch, 1});
  contexts one({states::batch, 1});
  for (int i = 0; i < states::steps; ++i) {
    for (int b = 0; b < states::batch; ++b)
      for (int k = 0; k < states::width; ++k) h(b, 0, k) = p.h(b, i, k);
    if (const status s = kind.call(p, h, one); !s) return s;
    for (int b = 0; b < states::batch; ++b)
      for (int k = 0; k < states::width; ++k) c(b, i, k) = one(b, 0, k);
  }
  return {};
}

// The largest difference from the weighted mean in double precision.
double error_of(const scores &kind, const problem &p, const contexts &c) {
  double worst = 0;
  for (int b = 0; b < states::batch; ++b)
    for (int i = 0; i < states::steps; ++i) {
      std::vector<double> mean(states::width);
      double total = 0;
      for (int j = 0; j < p.length(b); ++j) {
        const double w = std::exp(kind.score(p, b, i, j));
        total += w;
        for (int k = 0; k < states::width; ++k)
          mean[static_cast<std::size_t>(k)] += w * p.s(b, j, k);
      }
      for (int k = 0; k < states::width; ++k)
        worst = std::max(worst, std::abs(mean[static_cast<std::size_t>(k)] / total - c(b, i, k)));
    }
  return worst;
}

// The weights of a sentence, where the states of the source have a one each.
std::vector<float> weights_of(const contexts &c, int b) {
  std::vector<float> w;
  for (int i = 0; i < states::steps; ++i)
    for (int j = 0; j < states::words; ++j) w.push_back(c(b, i, states::number + j));
  return w;
}

// The memory that a call allocates.
template <auto Kernel, class... Param>
std::size_t megabytes(const Param &...params) {
  constexpr int many = 1000;
  const queries h({1, many});
  const tensor<my::batch, my::source, my::d_s> s({1, many});
  const tensor<i32, my::batch> length({1});
  contexts c({1, many});
  std::size_t bytes = 0;
  if (!workspace_bytes<Kernel>(bytes, options{.threads = 1}, h, s, length, params..., c)) return 0;
  return bytes / 1000000;
}

int aligned(const std::vector<float> &w) {
  int right = 0;
  for (int i = 0; i < states::steps; ++i) {
    const auto row = w.begin() + i * states::words;
    right += std::max_element(row, row + states::words) - row == states::translates[i];
  }
  return right;
}

}  // namespace

int main(int argc, char **argv) {
  const problem p;
  std::vector<examples::heat> drawn;
  for (const scores &kind : all) {
    contexts c({states::batch, states::steps}), at_once({states::batch, states::steps});
    status s = step_by_step(kind, p, c);
    if (s) s = kind.call(p, p.h, at_once);
    const double error = std::max(error_of(kind, p, c), error_of(kind, p, at_once));
    if (!s || !(error < 1e-5)) {
      std::printf("%-9s %s\n", kind.name, s ? "WRONG" : s.text());
      return 1;
    }
    const auto weights = weights_of(c, 0);
    std::printf(
        "%-9s equal to the loop within 1e-5, step by step and at once; %2d of %d words find "
        "theirs\n",
        kind.name, aligned(weights), states::steps);
    drawn.push_back({kind.name, states::words, weights});
  }
  std::printf("1000 steps over 1000 words take concat %zu MB, additive %zu MB\n",
              megabytes<my::concat_attention>(p.W, p.v),
              megabytes<my::additive_attention>(p.W_of_h, p.W_of_s, p.v));
  if (argc > 1) {
    const std::string path = std::string(argv[1]) + "/weights.svg";
    std::ofstream(path) << examples::heat_map("Weights of the source's words at each step", drawn,
                                              13, {states::target, states::source});
  }
}
