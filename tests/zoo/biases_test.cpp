// SPDX-License-Identifier: BSL-1.0
// alibi, relative_bias, t5_bias, softcap: what is added to scores, or done to them.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

inline constexpr axis<"distances", 9> distances;
inline constexpr axis<"buckets", 32> buckets;
inline constexpr axis<"few", 8> few;
using Biased = out<"B", batch, heads, seq, kv>;

constexpr auto alibi_of_paper = kernel<"alibi_of_paper">(
    [](S_self S) -> Biased { return S + alibi<seq, kv>(alibi_slopes(heads)); });
constexpr auto alibi_learned = kernel<"alibi_learned">(
    [](in<"Q", batch, heads, seq, d_k> Q, K_self K, V_self V, param<"slope", heads> slope) -> O_ {
      auto s = dot<d_k>(Q, K) / sqrt(d_k) + alibi<seq, kv>(slope);
      return dot<kv>(softmax<kv>(mask(s, causal<seq, kv>)), V);
    });
constexpr auto relative =
    kernel<"relative">([](S_self S, param<"table", heads, distances> table) -> Biased {
      return S + relative_bias<seq, kv, distances>(table);
    });
constexpr auto relative_last = kernel<"relative_last">(
    [](S_ S, param<"table", distances> table) -> out<"B", batch, heads, seq, mem> {
      return S + relative_bias<seq, mem, distances, align::last>(table);
    });
constexpr auto t5 = kernel<"t5">(
    [](S_self S, param<"table", heads, buckets> table, param<"small", heads, few> small)
        -> outs<Biased, out<"C", batch, heads, seq, kv>, out<"D", batch, heads, seq, kv>> {
      return {S + t5_bias<seq, kv, buckets>(table), S + t5_causal_bias<seq, kv, buckets>(table),
              S + t5_bias<seq, kv, few>(small, 20)};
    });
// Over a cache with room left.
inline constexpr axis<"slots"> slots;
constexpr auto over_cache = kernel<"over_cache">(
    [](in<"S", batch, heads, seq, slots> S, param<"slope", heads> slope,
       param<"table", heads, distances> near, param<"far", heads, buckets> far,
       in<"length", i32, batch> length, in<"count", i32, batch> count)
        -> outs<out<"A", batch, heads, seq, slots>, out<"R", batch, heads, seq, slots>,
                out<"T", batch, heads, seq, slots>, out<"C", batch, heads, seq, slots>> {
      return {S + alibi<seq, slots>(slope, length),
              S + relative_bias<seq, slots, distances>(near, length, count),
              S + t5_bias<seq, slots, buckets>(far, 128, length),
              S + t5_causal_bias<seq, slots, buckets>(far, 20, length, count)};
    });
constexpr auto capped = kernel<"capped">(
    [](S_ S, V_ V, param<"cap", heads> cap) -> outs<O_, out<"C", batch, heads, seq, mem>> {
      return {dot<mem>(softmax<mem>(softcap(S * 10, 5)), V), softcap(S, cap * cap + 1)};
    });

// The published rule in integers: a factor x^8 < y is compared, no logarithm is rounded.
int64_t bucket_of(int64_t far, int64_t n, int64_t max_distance) {
  const int64_t exact = n / 2;
  if (far < exact) return far;
  int64_t bucket = exact;
  for (int64_t k = 1; k < n - exact;
       ++k) {  // far / exact >= (max_distance / exact)^(k / (n - exact))
    const double border = std::pow(static_cast<double>(max_distance) / static_cast<double>(exact),
                                   static_cast<double>(k) / static_cast<double>(n - exact));
    if (static_cast<double>(far) / static_cast<double>(exact) >= border * (1 - 1e-12))
      bucket = exact + k;
  }
  return bucket;
}
int64_t both_ways(int64_t after, int64_t n, int64_t max_distance) {
  return (after > 0 ? n / 2 : 0) + bucket_of(std::abs(after), n / 2, max_distance);
}

}  // namespace

TEST_CASE("alibi: minus the slope times the distance") {
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(alibi_of_paper, {{"batch", 2}, {"seq", n}});
    QKV_SAME(meaning(alibi_of_paper, a)["B"], (position{2, 3, n, n}), [&](auto i) {
      const double slope[] = {std::exp2(-8. / 3), std::exp2(-16. / 3), std::exp2(-8.)};
      return at(a.at("S"), i) - slope[i[1]] * std::abs(static_cast<double>(i[2] - i[3]));
    });
  }
}

TEST_CASE("alibi: learned slopes, causal") {
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(alibi_learned, {{"batch", 2}, {"seq", n}});
    QKV_SAME(meaning(alibi_learned, a)["O"], (position{2, 3, n, 5}), [&](auto i) {
      return attended(
          n,
          [&](int64_t j) {
            return product(a, i, j) / std::sqrt(6.0) -
                   at(a.at("slope"), {i[1]}) * static_cast<double>(i[2] - j);
          },
          [&](int64_t j) { return at(a.at("V"), {i[0], i[1], j, i[3]}); },
          [&](int64_t j) { return j <= i[2]; });
    });
  }
}

TEST_CASE("relative_bias: a table of distances, its ends beyond") {
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(relative, {{"batch", 2}, {"seq", n}});
    QKV_SAME(meaning(relative, a)["B"], (position{2, 3, n, n}), [&](auto i) {
      const int64_t entry = std::clamp<int64_t>(i[3] - i[2], -4, 4) + 4;
      return at(a.at("S"), i) + at(a.at("table"), {i[1], entry});
    });
  }
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(relative_last, {{"batch", 1}, {"seq", n}, {"mem", m}});
    QKV_SAME(meaning(relative_last, a)["B"], (position{1, 3, n, m}), [&, n = n, m = m](auto i) {
      const int64_t entry = std::clamp<int64_t>(i[3] - i[2] - (m - n), -4, 4) + 4;
      return at(a.at("S"), i) + at(a.at("table"), {entry});
    });
  }
}

TEST_CASE("t5_bias: buckets of distances") {
  std::vector<int64_t> sizes(std::begin(self_sizes), std::end(self_sizes));
  sizes.push_back(150);  // beyond the last bucket
  for (int64_t n : sizes) {
    const arrays a = arguments_of(t5, {{"batch", 1}, {"seq", n}});
    arrays r = meaning(t5, a);
    const position shape = {1, 3, n, n};
    const auto biased = [&](const position &i, const char *table, int64_t bucket) {
      return at(a.at("S"), i) + at(a.at(table), {i[1], bucket});
    };
    QKV_SAME(r["B"], shape,
             [&](auto i) { return biased(i, "table", both_ways(i[3] - i[2], 32, 128)); });
    QKV_SAME(r["C"], shape, [&](auto i) {
      return biased(i, "table", bucket_of(std::max<int64_t>(i[2] - i[3], 0), 32, 128));
    });
    QKV_SAME(r["D"], shape,
             [&](auto i) { return biased(i, "small", both_ways(i[3] - i[2], 8, 20)); });
  }
}

TEST_CASE("biases: queries are the last positions of a cache with room left") {
  for (auto [n, m] : pairs_of_sizes) {
    arrays a = arguments_of(over_cache, {{"batch", 2}, {"seq", n}, {"slots", m}});
    a.at("length").data = {static_cast<double>(std::min(n, m)), static_cast<double>(m)};
    a.at("count").data = {static_cast<double>(std::min(n, m)), static_cast<double>(n / 2)};
    arrays r = meaning(over_cache, a);
    const position shape = {2, 3, n, m};
    // how far the key lies after the query
    const auto after = [&, n = n](const position &i, bool counted) {
      const double of = counted ? at(a.at("count"), {i[0]}) : static_cast<double>(n);
      return i[3] - i[2] - static_cast<int64_t>(at(a.at("length"), {i[0]}) - of);
    };
    const auto entry = [&](const char *table, const position &i, int64_t e) {
      return at(a.at("S"), i) + at(a.at(table), {i[1], e});
    };
    QKV_SAME(r["A"], shape, [&](auto i) {
      return at(a.at("S"), i) -
             at(a.at("slope"), {i[1]}) * static_cast<double>(std::abs(after(i, false)));
    });
    QKV_SAME(r["R"], shape, [&](auto i) {
      return entry("table", i, std::clamp<int64_t>(after(i, true), -4, 4) + 4);
    });
    QKV_SAME(r["T"], shape,
             [&](auto i) { return entry("far", i, both_ways(after(i, false), 32, 128)); });
    QKV_SAME(r["C"], shape, [&](auto i) {
      return entry("far", i, bucket_of(std::max<int64_t>(-after(i, true), 0), 32, 20));
    });
  }
}

TEST_CASE("softcap: cap * tanh(scores / cap)") {
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(capped, {{"batch", 2}, {"seq", n}, {"mem", m}});
    arrays r = meaning(capped, a);
    QKV_SAME(r["O"], (position{2, 3, n, 5}), [&, m = m](auto i) {
      return attended(
          m, [&](int64_t j) { return 5 * std::tanh(at(a.at("S"), {i[0], i[1], i[2], j}) * 2); },
          [&](int64_t j) { return at(a.at("V"), {i[0], i[1], j, i[3]}); }, all);
    });
    QKV_SAME(r["C"], (position{2, 3, n, m}), [&](auto i) {
      const double c = at(a.at("cap"), {i[1]}) * at(a.at("cap"), {i[1]}) + 1;
      return c * std::tanh(at(a.at("S"), i) / c);
    });
  }
}

}  // namespace qkv::testing
