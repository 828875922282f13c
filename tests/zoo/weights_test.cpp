// SPDX-License-Identifier: BSL-1.0
// attend_with_sink, softmax_plus_one, sigmoid_attention, differential, talking_heads: what is made
// of scores.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

inline constexpr batch_axis<"mixed", 4> mixed;
using T_ = in<"T", batch, heads, seq, mem>;  // other scores
using Keep = in<"keep", b8, batch, heads, seq, mem>;

constexpr auto sinks = kernel<"sinks">([
](S_ S, V_ V, Keep keep, param<"sink", heads> sink) -> outs<O_, out<"P", batch, heads, seq, d_v>> {
  auto s = mask(S, keep);
  return {attend_with_sink<mem>(s, V, sink), softmax_plus_one<mem>(s, V)};
});
constexpr auto sigmoids = kernel<"sigmoids">([
](S_ S, V_ V, Keep keep, param<"bias", heads> bias) -> outs<O_, out<"P", batch, heads, seq, d_v>> {
  return {sigmoid_attention<mem>(mask(S, keep), V, -log(size(mem))),
          sigmoid_attention<mem>(S, V, bias)};
});
constexpr auto difference = kernel<"difference">([
](S_ S, T_ T, V_ V, param<"lambda", heads> lambda) -> outs<O_, out<"P", batch, heads, seq, d_v>> {
  return {differential<mem>(S, T, V, lambda), differential<mem>(S, T, V, 0.8)};
});
constexpr auto talking = kernel<"talking">(
    [](S_ S, V_ V, param<"P", heads, mixed> P, param<"W", mixed, heads> W,
       in<"keep", b8, batch, seq, mem> keep) -> outs<O_, out<"P1", batch, heads, seq, d_v>> {
      return {talking_heads<mem, heads, mixed>(S, P, W, V),
              talking_heads<mem, heads, mixed>(S, P, W, V, keep)};
    });

// Reads a row of scores and a column of values of the arguments.
struct row_of {
  const arrays &a;
  position i;  // batch, head, query, value
  double score(const char *name, int64_t j) const { return at(a.at(name), {i[0], i[1], i[2], j}); }
  double value(int64_t j) const { return at(a.at("V"), {i[0], i[1], j, i[3]}); }
  bool seen(int64_t j) const { return score("keep", j) != 0; }
};

}  // namespace

TEST_CASE("attend_with_sink: one more logit without a value; softmax_plus_one: it is 0") {
  for (auto [n, m] : pairs_of_sizes) {
    arrays a = arguments_of(sinks, {{"batch", 2}, {"seq", n}, {"mem", m}});
    a["sink"].data[1] = -std::numeric_limits<double>::infinity(),
    a["sink"].data[2] = -1e30;  // as good as none, also for empty rows
    arrays r = meaning(sinks, a);
    const auto expected = [&, m = m](const position &i, double sink) {
      const row_of row{a, i};
      double above = 0, below = std::exp(sink);
      for (int64_t j = 0; j < m; ++j) {
        if (!row.seen(j)) continue;
        below += std::exp(row.score("S", j));
        above += std::exp(row.score("S", j)) * row.value(j);
      }
      return below == 0 ? 0 : above / below;
    };
    QKV_SAME(r["O"], (position{2, 3, n, 5}),
             [&](auto i) { return expected(i, at(a.at("sink"), {i[1]})); });
    QKV_SAME(r["P"], (position{2, 3, n, 5}), [&](auto i) { return expected(i, 0); });
  }
}

TEST_CASE("sigmoid_attention: each key on its own") {
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(sigmoids, {{"batch", 2}, {"seq", n}, {"mem", m}});
    arrays r = meaning(sigmoids, a);
    const auto expected = [&, m = m](const position &i, double bias, bool masked) {
      const row_of row{a, i};
      return sum_of(m, [&](int64_t j) {
        return masked && !row.seen(j) ? 0
                                      : row.value(j) / (1 + std::exp(-row.score("S", j) - bias));
      });
    };
    const double paper = -std::log(static_cast<double>(m));
    QKV_SAME(r["O"], (position{2, 3, n, 5}), [&](auto i) { return expected(i, paper, true); });
    QKV_SAME(r["P"], (position{2, 3, n, 5}),
             [&](auto i) { return expected(i, at(a.at("bias"), {i[1]}), false); });
  }
}

TEST_CASE("differential: one attention less a part of another") {
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(difference, {{"batch", 2}, {"seq", n}, {"mem", m}});
    arrays r = meaning(difference, a);
    const auto expected = [&, m = m](const position &i, double lambda) {
      const row_of row{a, i};
      const auto score = [&](const char *name) {
        return [&row, name](int64_t j) { return row.score(name, j); };
      };
      const double first = lse_of(m, score("S"), all), second = lse_of(m, score("T"), all);
      return sum_of(m, [&](int64_t j) {
        const double w =
            std::exp(row.score("S", j) - first) - lambda * std::exp(row.score("T", j) - second);
        return w * row.value(j);
      });
    };
    QKV_SAME(r["O"], (position{2, 3, n, 5}),
             [&](auto i) { return expected(i, at(a.at("lambda"), {i[1]})); });
    QKV_SAME(r["P"], (position{2, 3, n, 5}), [&](auto i) { return expected(i, 0.8); });
  }
}

TEST_CASE("talking_heads: heads mix before and after softmax") {
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(talking, {{"batch", 2}, {"seq", n}, {"mem", m}});
    arrays r = meaning(talking, a);
    const auto expected = [&, m = m](const position &i, bool masked) {
      const auto seen = [&](int64_t j) {
        return !masked || at(a.at("keep"), {i[0], i[2], j}) != 0;
      };
      return sum_of(4, [&](int64_t g) {  // a mixed head at a time
        const auto score = [&](int64_t j) {
          return sum_of(3, [&](int64_t h) {
            return at(a.at("S"), {i[0], h, i[2], j}) * at(a.at("P"), {h, g});
          });
        };
        return at(a.at("W"), {g, i[1]}) *
               attended(
                   m, score, [&](int64_t j) { return at(a.at("V"), {i[0], i[1], j, i[3]}); }, seen);
      });
    };
    QKV_SAME(r["O"], (position{2, 3, n, 5}), [&](auto i) { return expected(i, false); });
    QKV_SAME(r["P1"], (position{2, 3, n, 5}), [&](auto i) { return expected(i, true); });
  }
}

}  // namespace qkv::testing
