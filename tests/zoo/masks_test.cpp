// SPDX-License-Identifier: BSL-1.0
// prefix, dilated, document, global_window, cached_causal: which keys each query sees.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

using P_ = out<"P", batch, seq, kv>;
using X_ = in<"X", batch, seq, kv>;  // gives the masks a kernel to live in

// 1 where the mask lets through, else 0.
constexpr auto shown(auto x, auto keep) { return where(keep, x * 0 + 1, 0); }

constexpr auto prefix_of = kernel<"prefix_of">(
    [](X_ X, in<"length", i32, batch> length) -> P_ { return shown(X, prefix<seq, kv>(length)); });
constexpr auto documents = kernel<"documents">(
    [](X_ X, in<"id", i32, batch, seq> id) -> P_ { return shown(X, document<seq, kv>(id)); });
constexpr auto dilations = kernel<"dilations">(
    [](X_ X, in<"step", i32, batch> step) -> P_ { return shown(X, dilated<seq, kv>(step)); });
constexpr auto globals =
    kernel<"globals">([](X_ X) -> P_ { return shown(X, global_window<seq, kv>(3, 2)); });

// Between queries and keys of different number.
using Y_ = in<"Y", seq, mem>;
constexpr auto last = kernel<"last">([
](Y_ Y) -> outs<out<"prefix", seq, mem>, out<"dilated", seq, mem>, out<"globals", seq, mem>> {
  return {shown(Y, prefix<seq, mem, align::last>(2)), shown(Y, dilated<seq, mem, align::last>(3)),
          shown(Y, global_window<seq, mem, align::last>(4, 1))};
});

// And in attention: hidden keys have no weight, rows with nothing left give 0.
constexpr auto attention =
    kernel<"attention">([](in<"Q", batch, heads, seq, d_k> Q, K_self K, V_self V,
                           in<"id", i32, batch, seq> id, in<"length", i32, batch> length) -> O_ {
      return scaled_dot_product<d_k, kv>(Q, K, V,
                                         prefix<seq, kv>(length) and document<seq, kv>(id) and
                                             dilated<seq, kv>(2) and padding<kv>(length));
    });

inline constexpr axis<"slots"> slots;
constexpr auto slots_seen = kernel<"slots_seen">(
    [](in<"x", batch, seq, slots> x, in<"length", i32, batch> length, in<"count", i32, batch> count)
        -> outs<out<"P", batch, seq, slots>, out<"R", batch, seq, slots>> {
      return {shown(x, cached_causal<seq, slots>(length)),
              shown(x, cached_causal<seq, slots>(length, count))};
    });

constexpr auto slots_near = kernel<"slots_near">(
    [](in<"x", batch, seq, slots> x, in<"length", i32, batch> length, in<"count", i32, batch> count)
        -> outs<out<"W", batch, seq, slots>, out<"R", batch, seq, slots>,
                out<"D", batch, seq, slots>, out<"G", batch, seq, slots>> {
      return {shown(x, sliding_window<seq, slots>(3, length)),
              shown(x, sliding_window<seq, slots>(3, length, count)),
              shown(x, dilated<seq, slots>(3, length)),
              shown(x, global_window<seq, slots>(4, 1, length))};
    });

}  // namespace

// Query i of n, or of count: the queries are the last of the `length` positions in a cache.
TEST_CASE("cached_causal: slots up to the query's own, of a cache with room left") {
  for (auto [n, m] : pairs_of_sizes) {
    arrays a = arguments_of(slots_seen, {{"batch", 2}, {"seq", n}, {"slots", m}});
    a.at("length").data = {static_cast<double>(std::min(n, m)), static_cast<double>(m)};
    a.at("count").data = {static_cast<double>(std::min(n, m)), static_cast<double>(n / 2)};
    arrays r = meaning(slots_seen, a);
    const auto own = [&](int64_t b, int64_t i, double of) {
      return at(a.at("length"), {b}) - of + static_cast<double>(i);
    };
    QKV_SAME(r["P"], (position{2, n, m}), [&, n = n](auto i) {
      return static_cast<double>(i[2]) <= own(i[0], i[1], static_cast<double>(n));
    });
    QKV_SAME(r["R"], (position{2, n, m}), [&](auto i) {
      const double count = at(a.at("count"), {i[0]});
      return static_cast<double>(i[2]) <= own(i[0], i[1], count) &&
             static_cast<double>(i[1]) < count;
    });
  }
}

TEST_CASE("masks: queries are the last positions of a cache with room left") {
  for (auto [n, m] : pairs_of_sizes) {
    arrays a = arguments_of(slots_near, {{"batch", 2}, {"seq", n}, {"slots", m}});
    a.at("length").data = {static_cast<double>(std::min(n, m)), static_cast<double>(m)};
    a.at("count").data = {static_cast<double>(std::min(n, m)), static_cast<double>(n / 2)};
    arrays r = meaning(slots_near, a);
    const position shape = {2, n, m};
    const auto query = [&](const position &i, int64_t of) {
      return static_cast<int64_t>(at(a.at("length"), {i[0]})) - of + i[1];
    };
    QKV_SAME(r["W"], shape, [&, n = n](auto i) { return std::abs(query(i, n) - i[2]) < 3; });
    QKV_SAME(r["R"], shape, [&](auto i) {
      return std::abs(query(i, static_cast<int64_t>(at(a.at("count"), {i[0]}))) - i[2]) < 3;
    });
    QKV_SAME(r["D"], shape, [&, n = n](auto i) { return (query(i, n) - i[2]) % 3 == 0; });
    QKV_SAME(r["G"], shape, [&, n = n](auto i) {
      return std::abs(query(i, n) - i[2]) < 4 || i[2] < 1 || query(i, n) < 1;
    });
  }
}

TEST_CASE("prefix: keys up to the query, and all of the prefix") {
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(prefix_of, {{"batch", 2}, {"seq", n}});
    QKV_SAME(meaning(prefix_of, a)["P"], (position{2, n, n}), [&](auto i) {
      return i[2] <= i[1] || static_cast<double>(i[2]) < at(a.at("length"), {i[0]});
    });
  }
}

TEST_CASE("document: keys of the query's document") {
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(documents, {{"batch", 2}, {"seq", n}});
    QKV_SAME(meaning(documents, a)["P"], (position{2, n, n}),
             [&](auto i) { return at(a.at("id"), {i[0], i[1]}) == at(a.at("id"), {i[0], i[2]}); });
  }
}

TEST_CASE("dilated: distances that are multiples of the step") {
  for (int64_t n : self_sizes) {
    const arrays a =
        arguments_of(dilations, {{"batch", 4}, {"seq", n}}, {{"step", {{4}, {1, 2, 3, 7}}}});
    QKV_SAME(meaning(dilations, a)["P"], (position{4, n, n}), [&](auto i) {
      const int64_t step[] = {1, 2, 3, 7};
      return (i[1] - i[2]) % step[i[0]] == 0;
    });
  }
}

TEST_CASE("global_window: near keys, and the first ones from and to everywhere") {
  for (int64_t n : self_sizes)
    QKV_SAME(meaning(globals, arguments_of(globals, {{"batch", 1}, {"seq", n}}))["P"],
             (position{1, n, n}),
             [&](auto i) { return std::abs(i[1] - i[2]) < 3 || i[1] < 2 || i[2] < 2; });
}

TEST_CASE("masks: queries are the last of the keys") {
  for (auto [n, m] : pairs_of_sizes) {
    arrays r = meaning(last, arguments_of(last, {{"seq", n}, {"mem", m}}));
    const position shape = {n, m};
    const auto query = [n = n, m = m](const position &i) { return i[0] + m - n; };
    QKV_SAME(r["prefix"], shape, [&](auto i) { return i[1] <= query(i) || i[1] < 2; });
    QKV_SAME(r["dilated"], shape, [&](auto i) { return (query(i) - i[1]) % 3 == 0; });
    QKV_SAME(r["globals"], shape,
             [&](auto i) { return std::abs(query(i) - i[1]) < 4 || i[1] < 1 || query(i) < 1; });
  }
}

TEST_CASE("masks: together in attention") {
  for (int64_t n : self_sizes) {
    const arrays a =
        arguments_of(attention, {{"batch", 2}, {"seq", n}}, {{"length", {{2}, {0, 9}}}});
    QKV_SAME(meaning(attention, a)["O"], (position{2, 3, n, 5}), [&](auto i) {
      const int64_t length = i[0] ? 9 : 0;
      return attended(
          n, [&](int64_t j) { return product(a, i, j) / std::sqrt(6.0); },
          [&](int64_t j) { return at(a.at("V"), {i[0], i[1], j, i[3]}); },
          [&](int64_t j) {
            return (j <= i[2] || j < length) && j < length && (i[2] - j) % 2 == 0 &&
                   at(a.at("id"), {i[0], i[2]}) == at(a.at("id"), {i[0], j});
          });
    });
  }
}

}  // namespace qkv::testing
