// SPDX-License-Identifier: BSL-1.0
// rope, rope_interleaved, rope_partial: pairs of features turned by the angle of their position.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

inline constexpr axis<"two", 2> two;
inline constexpr axis<"half", 3> half;
inline constexpr axis<"front", 4> front;
inline constexpr axis<"rest", 2> rest;
inline constexpr axis<"quarter", 2> quarter;
inline constexpr axis<"positions", 40> positions;
using X_ = in<"X", batch, heads, seq, d_k>;
using Y_ = out<"Y", batch, heads, seq, d_k>;
using Z_ = out<"Z", batch, heads, seq, d_k>;

constexpr auto by_table =
    kernel<"by_table">([](X_ X, param<"c", positions, half> c, param<"s", positions, half> s,
                          in<"at", i32, batch, seq> at) -> outs<Y_, Z_> {
      auto cos = take<positions>(c, at);
      auto sin = take<positions>(s, at);
      return {rope<d_k, two, half>(X, cos, sin), rope_interleaved<d_k, two, half>(X, cos, sin)};
    });

constexpr auto by_angle = kernel<"by_angle">([](X_ X) -> outs<Y_, Z_> {
  auto angle = rope_angle<seq, half>();
  auto slow = rope_angle<seq, quarter>(100);
  return {rope<d_k, two, half>(X, cos(angle), sin(angle)),
          rope_partial<d_k, front, rest>(X, [&](auto x) {
            return rope_interleaved<front, two, quarter>(x, cos(slow), sin(slow));
          })};
});

constexpr auto attention = kernel<"attention">([](X_ Q, in<"K", batch, heads, kv, d_k> K,
                                                  V_self V) -> O_ {
  auto q = rope_angle<seq, half>();
  auto k = rope_angle<kv, half>();
  return scaled_dot_product<d_k, kv>(rope<d_k, two, half>(Q, cos(q), sin(q)),
                                     rope<d_k, two, half>(K, cos(k), sin(k)), V, causal<seq, kv>);
});

}  // namespace

TEST_CASE("rope: halves and neighbours, by a table") {
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(by_table, {{"batch", 2}, {"seq", n}});
    arrays r = meaning(by_table, a);
    const auto cos_sin = [&](const position &i, int64_t pair) {
      const auto row = static_cast<int64_t>(at(a.at("at"), {i[0], i[2]}));
      return std::pair{at(a.at("c"), {row, pair}), at(a.at("s"), {row, pair})};
    };
    const auto x = [&](position i, int64_t feature) {
      i[3] = feature;
      return at(a.at("X"), i);
    };
    QKV_SAME(r["Y"], (position{2, 3, n, 6}), [&](auto i) {
      const auto [c, s] = cos_sin(i, i[3] % 3);
      return i[3] < 3 ? x(i, i[3]) * c - x(i, i[3] + 3) * s : x(i, i[3] - 3) * s + x(i, i[3]) * c;
    });
    QKV_SAME(r["Z"], (position{2, 3, n, 6}), [&](auto i) {
      const auto [c, s] = cos_sin(i, i[3] / 2);
      return i[3] % 2 == 0 ? x(i, i[3]) * c - x(i, i[3] + 1) * s
                           : x(i, i[3] - 1) * s + x(i, i[3]) * c;
    });
  }
}

TEST_CASE("rope: angles that the kernel computes, and a part of the features") {
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(by_angle, {{"batch", 2}, {"seq", n}});
    arrays r = meaning(by_angle, a);
    const auto x = [&](position i, int64_t feature) {
      i[3] = feature;
      return at(a.at("X"), i);
    };
    QKV_SAME(r["Y"], (position{2, 3, n, 6}), [&](auto i) {
      const auto p = static_cast<double>(i[2]), k = static_cast<double>(i[3] % 3);
      const double angle = p / std::pow(10000, k / 3);
      return i[3] < 3 ? x(i, i[3]) * std::cos(angle) - x(i, i[3] + 3) * std::sin(angle)
                      : x(i, i[3] - 3) * std::sin(angle) + x(i, i[3]) * std::cos(angle);
    });
    QKV_SAME(r["Z"], (position{2, 3, n, 6}), [&](auto i) {
      if (i[3] >= 4) return x(i, i[3]);
      const double angle = static_cast<double>(i[2]) / (i[3] < 2 ? 1 : 10);
      return i[3] % 2 == 0 ? x(i, i[3]) * std::cos(angle) - x(i, i[3] + 1) * std::sin(angle)
                           : x(i, i[3] - 1) * std::sin(angle) + x(i, i[3]) * std::cos(angle);
    });
  }
}

TEST_CASE("rope: scores depend on distances only") {
  // The turned product is a sum over pairs, taken as complex numbers: Re(q conj(k) e^(i (p - r)
  // t)).
  for (int64_t n : self_sizes) {
    arrays a = arguments_of(attention, {{"batch", 1}, {"seq", n}});
    const auto &Q = a.at("X"), &K = a.at("K");
    QKV_SAME(meaning(attention, a)["O"], (position{1, 3, n, 5}), [&](auto i) {
      const auto score = [&](int64_t j) {
        return sum_of(3,
                      [&](int64_t k) {
                        const double t = static_cast<double>(i[2] - j) /
                                         std::pow(10000, static_cast<double>(k) / 3);
                        const double q0 = at(Q, {i[0], i[1], i[2], k}),
                                     q1 = at(Q, {i[0], i[1], i[2], k + 3});
                        const double k0 = at(K, {i[0], i[1], j, k}),
                                     k1 = at(K, {i[0], i[1], j, k + 3});
                        return (q0 * k0 + q1 * k1) * std::cos(t) +
                               (q0 * k1 - q1 * k0) * std::sin(t);
                      }) /
               std::sqrt(6.0);
      };
      return attended(
          n, score, [&](int64_t j) { return at(a.at("V"), {i[0], i[1], j, i[3]}); },
          [&](int64_t j) { return j <= i[2]; });
    });
  }
}

}  // namespace qkv::testing
