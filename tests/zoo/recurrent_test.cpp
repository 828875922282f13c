// SPDX-License-Identifier: BSL-1.0
// recurrent_attention, gated_attention, delta_rule, gated_delta_rule; a scan written by hand.
#include <vector>

#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

using Kq = in<"K", batch, heads, seq, d_k>;
using Vq = in<"V", batch, heads, seq, d_v>;
using State = in<"S0", batch, heads, d_k, d_v>;
using Last = out<"S", batch, heads, d_k, d_v>;
using Beta = in<"beta", batch, heads, seq>;
using Decay = in<"g", batch, heads, seq, d_k>;

constexpr auto plain_rule = kernel<"plain_rule">([](State S0, Q_ Q, Kq K, Vq V) -> outs<O_, Last> {
  auto [o, s] = recurrent_attention<d_k, seq, d_v>(S0, Q, K, V);
  return {o, s};
});
constexpr auto gated_rule =
    kernel<"gated_rule">([](State S0, Q_ Q, Kq K, Vq V, Decay g) -> outs<O_, Last> {
      auto [o, s] = gated_attention<d_k, seq, d_v>(S0, Q, K, V, g);
      return {o, s};
    });
constexpr auto replacing_rule =
    kernel<"replacing_rule">([](State S0, Q_ Q, Kq K, Vq V, Beta beta) -> outs<O_, Last> {
      auto [o, s] = delta_rule<d_k, seq, d_v>(S0, Q, K, V, beta);
      return {o, s};
    });
constexpr auto both_rules =
    kernel<"both_rules">([](State S0, Q_ Q, Kq K, Vq V, Decay g, Beta beta) -> outs<O_, Last> {
      auto [o, s] = gated_delta_rule<d_k, seq, d_v>(S0, Q, K, V, g, beta);
      return {o, s};
    });

// The recurrence of one head, as loops: results and states, [n, 5] and [6, 5].
struct one_head {
  std::vector<double> y, state;

  one_head(const arrays &a, int64_t b, int64_t h, int64_t n) : y(n * 5), state(6 * 5) {
    const bool decays = a.count("g"), replaces = a.count("beta");
    for (int64_t k = 0; k < 6; ++k)
      for (int64_t c = 0; c < 5; ++c) state[k * 5 + c] = at(a.at("S0"), {b, h, k, c});
    for (int64_t t = 0; t < n; ++t) {
      for (int64_t k = 0; k < 6; ++k)
        for (int64_t c = 0; c < 5; ++c)
          if (decays) state[k * 5 + c] *= std::exp(at(a.at("g"), {b, h, t, k}));
      for (int64_t c = 0; c < 5; ++c) {
        double w = at(a.at("V"), {b, h, t, c});
        if (replaces) {
          for (int64_t k = 0; k < 6; ++k) w -= at(a.at("K"), {b, h, t, k}) * state[k * 5 + c];
          w *= at(a.at("beta"), {b, h, t});
        }
        for (int64_t k = 0; k < 6; ++k) {
          state[k * 5 + c] += at(a.at("K"), {b, h, t, k}) * w;
          y[t * 5 + c] += at(a.at("Q"), {b, h, t, k}) * state[k * 5 + c];
        }
      }
    }
  }
};

// Keys and gates small enough for sums of 33 steps to stay near 1.
arrays tame(arrays a) {
  for (const char *name : {"K", "g", "beta"})
    if (const auto it = a.find(name); it != a.end())
      for (double &x : it->second.data) x *= 0.25;
  return a;
}

template <class Kernel>
void check(const Kernel &kernel) {
  for (int64_t n : self_sizes) {
    const arrays a = tame(arguments_of(kernel, {{"batch", 2}, {"seq", n}}));
    arrays r = meaning(kernel, a);
    std::vector<one_head> heads;
    for_each_position({2, 3}, [&](const position &i) { heads.emplace_back(a, i[0], i[1], n); });
    const auto head = [&](const position &i) -> const one_head & {
      return heads[static_cast<std::size_t>(i[0] * 3 + i[1])];
    };
    QKV_SAME(r["O"], (position{2, 3, n, 5}),
             [&](auto i) { return head(i).y[static_cast<std::size_t>(i[2] * 5 + i[3])]; });
    QKV_SAME(r["S"], (position{2, 3, 6, 5}),
             [&](auto i) { return head(i).state[static_cast<std::size_t>(i[2] * 5 + i[3])]; });
  }
}

// A leaky maximum and how often it was beaten: a state as result, a result that is not a state, no
// other axis.
constexpr auto by_hand = kernel<"by_hand">(
    [](in<"x", seq> x, in<"start"> start) -> outs<out<"top", seq>, out<"gap", seq>, out<"end">> {
      auto tops = scan<seq>(start, [](auto s, auto v) { return max(s / 2, v); }, x);
      auto gaps =
          scan<seq>(start, [](auto s, auto v) { return std::pair{max(s / 2, v), s / 2 - v}; }, x);
      return {tops.result, gaps.result, gaps.last};
    });

}  // namespace

TEST_CASE("recurrent_attention: a memory that is only written") { check(plain_rule); }
TEST_CASE("gated_attention: a memory that decays") { check(gated_rule); }
TEST_CASE("delta_rule: what a key held is replaced") { check(replacing_rule); }
TEST_CASE("gated_delta_rule: both") { check(both_rules); }

TEST_CASE("scan: states and other results, position by position") {
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(by_hand, {{"seq", n}});
    arrays r = meaning(by_hand, a);
    double s = a.at("start").data[0];
    for (int64_t t = 0; t < n; ++t) {
      const double v = at(a.at("x"), {t});
      CHECK(at(r["gap"], {t}) == s / 2 - v);
      s = std::max(s / 2, v);
      CHECK(at(r["top"], {t}) == s);
    }
    CHECK(r["end"].data[0] == s);
  }
}

}  // namespace qkv::testing
