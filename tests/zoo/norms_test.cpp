// SPDX-License-Identifier: BSL-1.0
// layer_norm, rms_norm, unit_length, qk_norm.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

using X_ = in<"X", batch, seq, mem>;
using Y_ = out<"Y", batch, seq, mem>;

constexpr auto rms =
    kernel<"rms">([](X_ X, param<"gamma", mem> gamma)
                      -> outs<Y_, out<"Z", batch, seq, mem>, out<"U", batch, seq, mem>> {
      return {rms_norm<mem>(X), rms_norm<mem>(X, gamma, 1e-3), unit_length<mem>(X)};
    });
constexpr auto layer = kernel<"layer">(
    [](X_ X, param<"gamma", mem> gamma,
       param<"beta", mem> beta) -> outs<Y_, out<"Z", batch, seq, mem>, out<"W", batch, seq, mem>> {
      return {layer_norm<mem>(X), layer_norm<mem>(X, gamma, beta, 1e-3), layer_norm<mem>(X, gamma)};
    });
constexpr auto cosines = kernel<"cosines">(
    [](Q_ Q, K_ K, V_ V, param<"g", heads> g) -> outs<O_, out<"C", batch, heads, seq, mem>> {
      return {dot<mem>(softmax<mem>(qk_norm<d_k>(Q, K, g)), V), qk_norm<d_k>(Q, K, 10)};
    });

}  // namespace

TEST_CASE("rms_norm and unit_length") {
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(rms, {{"batch", 2}, {"seq", n}, {"mem", m}});
    arrays r = meaning(rms, a);
    const position shape = {2, n, m};
    const auto squares = [&, m = m](const position &i) {
      return sum_of(m, [&](int64_t k) {
        const double x = at(a.at("X"), {i[0], i[1], k});
        return x * x;
      });
    };
    const auto width = static_cast<double>(m);
    QKV_SAME(r["Y"], shape,
             [&](auto i) { return at(a.at("X"), i) / std::sqrt(squares(i) / width + 1e-6); });
    QKV_SAME(r["Z"], shape, [&](auto i) {
      return at(a.at("X"), i) / std::sqrt(squares(i) / width + 1e-3) * at(a.at("gamma"), {i[2]});
    });
    QKV_SAME(r["U"], shape,
             [&](auto i) { return at(a.at("X"), i) / std::sqrt(squares(i) + 1e-12); });
  }
}

TEST_CASE("layer_norm, with and without gamma and beta") {
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(layer, {{"batch", 2}, {"seq", n}, {"mem", m}});
    arrays r = meaning(layer, a);
    const position shape = {2, n, m};
    const auto normed = [&, m = m](const position &i, double epsilon) {
      const auto x = [&](int64_t k) { return at(a.at("X"), {i[0], i[1], k}); };
      const auto width = static_cast<double>(m);
      const double mean = sum_of(m, x) / width;
      const double variance =
          sum_of(m, [&](int64_t k) { return (x(k) - mean) * (x(k) - mean); }) / width;
      return (x(i[2]) - mean) / std::sqrt(variance + epsilon);
    };
    const auto gamma = [&](const position &i) { return at(a.at("gamma"), {i[2]}); };
    QKV_SAME(r["Y"], shape, [&](auto i) { return normed(i, 1e-5); });
    QKV_SAME(r["Z"], shape,
             [&](auto i) { return normed(i, 1e-3) * gamma(i) + at(a.at("beta"), {i[2]}); });
    QKV_SAME(r["W"], shape, [&](auto i) { return normed(i, 1e-5) * gamma(i); });
  }
}

TEST_CASE("qk_norm: scores are scaled cosines") {
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(cosines, {{"batch", 2}, {"seq", n}, {"mem", m}});
    arrays r = meaning(cosines, a);
    const auto length = [&](const char *name, int64_t b, int64_t h, int64_t i) {
      return std::sqrt(1e-12 + sum_of(6, [&](int64_t k) {
                         const double x = at(a.at(name), {b, h, i, k});
                         return x * x;
                       }));
    };
    const auto cosine = [&](const position &i, int64_t j) {
      return product(a, i, j) / length("Q", i[0], i[1], i[2]) / length("K", i[0], i[1], j);
    };
    QKV_SAME(r["C"], (position{2, 3, n, m}), [&](auto i) { return 10 * cosine(i, i[3]); });
    QKV_SAME(r["O"], (position{2, 3, n, 5}), [&, m = m](auto i) {
      return attended(
          m, [&](int64_t j) { return at(a.at("g"), {i[1]}) * cosine(i, j); },
          [&](int64_t j) { return at(a.at("V"), {i[0], i[1], j, i[3]}); }, all);
    });
  }
}

}  // namespace qkv::testing
