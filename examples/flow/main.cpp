// SPDX-License-Identifier: BSL-1.0
// Tokens on a circle that attend to each other, step by step: how many clusters they form. Compares
// the first steps with loops.
//
//   flow [FOLDER]    draws flow.svg there
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <qkv/call.hpp>
#include <random>
#include <string>
#include <vector>

#include "examples/svg.hpp"
#include "spec.hpp"

namespace {

using namespace qkv;
namespace svg = examples::svg;
constexpr int n = 32, steps_of_call = 8, calls = 5;
constexpr float rate = 0.5f;
constexpr double pi = std::numbers::pi;
using positions = tensor<my::token, my::xy>;
using points = std::vector<std::complex<double>>;

positions random_positions() {
  positions X({n});
  std::mt19937 bits(24);
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * pi * bits() / 4294967296.;  // 2^32
    X(i, 0) = static_cast<float>(std::cos(angle)), X(i, 1) = static_cast<float>(std::sin(angle));
  }
  return X;
}

points points_of(const positions &X) {
  points p;
  for (int i = 0; i < n; ++i) p.emplace_back(X(i, 0), X(i, 1));
  return p;
}

// One step by loops in double precision.
points moved(const points &x, double beta) {
  points next;
  for (const auto &q : x) {
    std::complex<double> sum = 0;
    double total = 0;
    for (const auto &k : x) {
      const double w = std::exp(beta * (q.real() * k.real() + q.imag() * k.imag()));
      sum += w * k, total += w;
    }
    const auto pulled = q + double(rate) * sum / total;
    next.push_back(pulled / std::abs(pulled));
  }
  return next;
}

// NaN is as far away as can be.
double distance(const points &a, const points &b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    most = std::isnan(d) ? INFINITY : std::max(most, d);
  }
  return most;
}

// The positions before the first step and after each; none when something is wrong.
struct history {
  float beta;
  std::vector<points> at;
};

history run(float beta) {
  positions X = random_positions();
  tensor<> sharpness, part;
  *sharpness.begin() = beta, *part.begin() = rate;
  history h{beta, {points_of(X)}};
  for (int k = 0; k < calls; ++k) {
    positions x1({n}), x2({n}), x3({n}), x4({n}), x5({n}), x6({n}), x7({n}), x8({n});
    if (const status s = call<my::flow>(X, sharpness, part, x1, x2, x3, x4, x5, x6, x7, x8); !s) {
      std::printf("%s\n", s.text());
      return {beta, {}};
    }
    for (const positions *x : {&x1, &x2, &x3, &x4, &x5, &x6, &x7, &x8})
      h.at.push_back(points_of(*x));
    X = x8;
  }
  points expected = h.at[0];
  for (std::size_t step = 1; step <= steps_of_call; ++step) {
    expected = moved(expected, beta);
    if (distance(expected, h.at[step]) > 2e-6) {
      std::printf("beta = %g, step %zu: the loops say otherwise\n", beta, step);
      return {beta, {}};
    }
  }
  return h;
}

// Arcs without tokens that are longer than 0.1 separate clusters.
int clusters(const points &x) {
  std::vector<double> angles;
  for (const auto &p : x) angles.push_back(std::arg(p));
  std::sort(angles.begin(), angles.end());
  angles.push_back(angles.front() + 2 * pi);
  int gaps = 0;
  for (std::size_t i = 1; i < angles.size(); ++i) gaps += angles[i] - angles[i - 1] > 0.1;
  return std::max(gaps, 1);
}

// The length of the mean of all tokens: 1 when they are at one place.
double resultant(const points &x) {
  std::complex<double> sum = 0;
  for (const auto &p : x) sum += p;
  return std::abs(sum) / n;
}

// Around the colours as `part` goes from 0 to 1.
std::string colour(double part) {
  std::string text = "#";
  for (int channel : {0, 1, 2})
    text +=
        fmt::format("{:02x}", std::lround(120 + 100 * std::cos(2 * pi * (part - channel / 3.))));
  return text;
}

// Time runs outwards: the first positions are on the inner circle, the last ones on the outer.
std::string panel(const history &h, double x, double y) {
  constexpr double inner = 120, outer = 400;  // quarters of a pixel
  std::string body = fmt::format(
      "<g transform=\"translate({:g},{:g}) scale(0.25)\" fill=\"none\" stroke-width=\"5\">\n", x,
      y);
  for (double radius : {inner, outer})
    body += fmt::format("<circle r=\"{:g}\" stroke=\"#ccc\"/>\n", radius);
  const auto drawn = [&](std::size_t step, int i) {
    const double part = static_cast<double>(step) / (steps_of_call * calls);
    const auto p = (inner + (outer - inner) * part) * h.at[step][static_cast<std::size_t>(i)];
    return fmt::format("{:.0f},{:.0f} ", p.real(), p.imag());
  };
  for (int i = 0; i < n; ++i) {
    const auto before = [&](const auto &p) {
      return std::arg(p) < std::arg(h.at[0][static_cast<std::size_t>(i)]);
    };
    const auto rank = std::count_if(h.at[0].begin(), h.at[0].end(), before);
    body += "<polyline points=\"";
    for (std::size_t step = 0; step < h.at.size(); step += 2) body += drawn(step, i);
    body += fmt::format("\" stroke=\"{}\"/>\n", colour(double(rank) / n));
  }
  return body + "</g>\n" + svg::text(x, y + 125, fmt::format("beta = {:g}", h.beta), "middle");
}

}  // namespace

int main(int argc, char **argv) {
  std::vector<history> all;
  for (float beta : {1.f, 4.f, 9.f}) {
    all.push_back(run(beta));
    if (all.back().at.empty()) return 1;
  }
  std::printf("step");
  for (const history &h : all) std::printf("%14s = %g", "beta", h.beta);
  std::printf("\n    ");
  for (std::size_t k = 0; k < all.size(); ++k) std::printf("   clusters   mean");
  std::printf("\n");
  for (std::size_t step = 0; step < all[0].at.size(); step += steps_of_call) {
    std::printf("%4zu", step);
    for (const history &h : all)
      std::printf("%11d%7.3f", clusters(h.at[step]), resultant(h.at[step]));
    std::printf("\n");
  }
  if (argc < 2) return 0;
  std::string body =
      svg::text(10, 24, "32 tokens, 40 steps from the inner to the outer circle", "start");
  double x = 115;
  for (const history &h : all) body += panel(h, x, 145), x += 220;
  std::ofstream(std::string(argv[1]) + "/flow.svg")
      << svg::page(670, 285, body, "Tokens on a circle that attend to each other");
}
