// SPDX-License-Identifier: BSL-1.0
// multi_head, cross_attention, grouped_query, keys without heads, latent_attention.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

inline constexpr axis<"d_model", 7> d_model;
inline constexpr axis<"d_e", 4> d_e;
inline constexpr batch_axis<"q_heads", 6> q_heads;
inline constexpr axis<"group", 2> group;
inline constexpr axis<"latent", 4> latent;
inline constexpr axis<"rotated", 2> rotated;
using X_ = in<"X", batch, seq, d_model>;
using Wq_ = param<"Wq", d_model, heads, d_k>;
using Wo_ = param<"Wo", heads, d_v, d_model>;
using Y_ = out<"Y", batch, seq, d_model>;

constexpr auto self =
    kernel<"self">([](X_ X, Wq_ Wq, param<"Wk", d_model, heads, d_k> Wk,
                      param<"Wv", d_model, heads, d_v> Wv, Wo_ Wo, param<"bq", heads, d_k> bq,
                      param<"bv", heads, d_v> bv, param<"bo", d_model> bo) -> Y_ {
      return multi_head<d_model, seq, kv, heads, d_k, d_v>(
          X, with_bias(Wq, bq), Wk, with_bias(Wv, bv), with_bias(Wo, bo), causal<seq, kv>);
    });
constexpr auto cross =
    kernel<"cross">([](X_ X, in<"E", batch, mem, d_e> E, Wq_ Wq, param<"Wk", d_e, heads, d_k> Wk,
                       param<"Wv", d_e, heads, d_v> Wv, Wo_ Wo) -> Y_ {
      return cross_attention<d_model, d_e, mem, heads, d_k, d_v>(X, E, Wq, Wk, Wv, Wo);
    });
constexpr auto grouped = kernel<"grouped">(
    [](in<"Q", batch, q_heads, seq, d_k> Q, K_ K, V_ V, in<"length", i32, batch> length,
       in<"lengths", i32, batch, q_heads> lengths)
        -> outs<out<"O", batch, q_heads, seq, d_v>, out<"P", batch, q_heads, seq, d_v>,
                out<"H", batch, q_heads, seq, d_v>> {
      return {grouped_query<q_heads, heads, group, d_k, mem>(Q, K, V),
              grouped_query<q_heads, heads, group, d_k, mem>(Q, K, V, padding<mem>(length)),
              grouped_query<q_heads, heads, group, d_k, mem>(Q, K, V, padding<mem>(lengths))};
    });
constexpr auto multi_query =
    kernel<"multi_query">([](Q_ Q, in<"K", batch, mem, d_k> K, in<"V", batch, mem, d_v> V) -> O_ {
      return scaled_dot_product<d_k, mem>(Q, K, V);
    });
using Wv_ = param<"Wv", latent, heads, d_v>;
constexpr auto compressed = kernel<"compressed">(
    [](Q_ Q, in<"R", batch, heads, seq, rotated> R, in<"C", batch, kv, latent> C,
       in<"r", batch, kv, rotated> r, param<"Wk", latent, heads, d_k> Wk,
       Wv_ Wv) -> outs<O_, out<"P", batch, heads, seq, d_v>> {
      return {latent_attention<latent, d_k, rotated, kv>(Q, R, C, r, Wk, Wv),
              latent_attention<latent, d_k, rotated, kv>(Q, R, C, r, Wk, Wv, causal<seq, kv>)};
    });

// x[b, i, :] W[:, h, f], plus a bias where there is one: [batch, position, head, feature].
array projected(const arrays &a, const char *x, const char *w, const char *bias = nullptr) {
  const array &X = a.at(x), &W = a.at(w);
  return tabulated({X.shape[0], X.shape[1], W.shape[1], W.shape[2]}, [&](const position &i) {
    return sum_of(W.shape[0],
                  [&](int64_t k) { return at(X, {i[0], i[1], k}) * at(W, {k, i[2], i[3]}); }) +
           (bias ? at(a.at(bias), {i[2], i[3]}) : 0);
  });
}

// The result of multi-head attention over `memory`, and whether query i sees key j: seen(i, j).
template <class Seen>
array multi_head_of(const arrays &a, const char *memory, bool biased, Seen seen) {
  const array q = projected(a, "X", "Wq", biased ? "bq" : nullptr), k = projected(a, memory, "Wk"),
              v = projected(a, memory, "Wv", biased ? "bv" : nullptr);
  const int64_t m = k.shape[1];
  const array heads = tabulated({q.shape[0], q.shape[1], 3, 5}, [&](const position &i) {
    const auto score = [&](int64_t j) {
      return sum_of(6,
                    [&](int64_t f) {
                      return at(q, {i[0], i[1], i[2], f}) * at(k, {i[0], j, i[2], f});
                    }) /
             std::sqrt(6.0);
    };
    return attended(
        m, score, [&](int64_t j) { return at(v, {i[0], j, i[2], i[3]}); },
        [&](int64_t j) { return seen(i[1], j); });
  });
  return tabulated({q.shape[0], q.shape[1], 7}, [&](const position &i) {
    double y = biased ? at(a.at("bo"), {i[2]}) : 0;
    for (int64_t h = 0; h < 3; ++h)
      y += sum_of(5, [&](int64_t f) {
        return at(heads, {i[0], i[1], h, f}) * at(a.at("Wo"), {h, f, i[2]});
      });
    return y;
  });
}

}  // namespace

TEST_CASE("multi_head: projections with biases, heads, output projection, causal") {
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(self, {{"batch", 2}, {"seq", n}});
    const array y = multi_head_of(a, "X", true, [](int64_t i, int64_t j) { return j <= i; });
    QKV_SAME(meaning(self, a)["Y"], (position{2, n, 7}), [&](auto i) { return at(y, i); });
  }
}

TEST_CASE("cross_attention: another sequence of another width") {
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(cross, {{"batch", 2}, {"seq", n}, {"mem", m}});
    const array y = multi_head_of(a, "E", false, [](int64_t, int64_t) { return true; });
    QKV_SAME(meaning(cross, a)["Y"], (position{2, n, 7}), [&](auto i) { return at(y, i); });
  }
}

TEST_CASE("grouped_query: head h uses key head h / group; multi-query: one for all") {
  for (auto [n, m] : pairs_of_sizes) {
    const codegen::size_map sizes = {{"batch", 2}, {"seq", n}, {"mem", m}};
    const arrays a = arguments_of(grouped, sizes), one = arguments_of(multi_query, sizes);
    arrays r = meaning(grouped, a);
    const auto expected = [&, m = m](const position &i, auto seen) {
      const auto score = [&](int64_t j) {
        return sum_of(6,
                      [&](int64_t k) {
                        return at(a.at("Q"), {i[0], i[1], i[2], k}) *
                               at(a.at("K"), {i[0], i[1] / 2, j, k});
                      }) /
               std::sqrt(6.0);
      };
      return attended(
          m, score, [&](int64_t j) { return at(a.at("V"), {i[0], i[1] / 2, j, i[3]}); }, seen);
    };
    QKV_SAME(r["O"], (position{2, 6, n, 5}), [&](auto i) { return expected(i, all); });
    QKV_SAME(r["P"], (position{2, 6, n, 5}), [&](auto i) {
      return expected(
          i, [&](int64_t j) { return static_cast<double>(j) < at(a.at("length"), {i[0]}); });
    });
    QKV_SAME(r["H"], (position{2, 6, n, 5}), [&](auto i) {
      return expected(
          i, [&](int64_t j) { return static_cast<double>(j) < at(a.at("lengths"), {i[0], i[1]}); });
    });
    QKV_SAME(meaning(multi_query, one)["O"], (position{2, 3, n, 5}), [&, m = m](auto i) {
      const auto score = [&](int64_t j) {
        return sum_of(6,
                      [&](int64_t k) {
                        return at(one.at("Q"), {i[0], i[1], i[2], k}) *
                               at(one.at("K"), {i[0], j, k});
                      }) /
               std::sqrt(6.0);
      };
      return attended(m, score, [&](int64_t j) { return at(one.at("V"), {i[0], j, i[3]}); }, all);
    });
  }
}

TEST_CASE("latent_attention: keys and values made of one latent vector") {
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(compressed, {{"batch", 2}, {"seq", n}});
    arrays r = meaning(compressed, a);
    const array k = projected(a, "C", "Wk"), v = projected(a, "C", "Wv");
    const auto expected = [&](const position &i, auto seen) {
      const auto score = [&](int64_t j) {
        const double content = sum_of(6, [&](int64_t f) {
          return at(a.at("Q"), {i[0], i[1], i[2], f}) * at(k, {i[0], j, i[1], f});
        });
        const double place = sum_of(2, [&](int64_t f) {
          return at(a.at("R"), {i[0], i[1], i[2], f}) * at(a.at("r"), {i[0], j, f});
        });
        return (content + place) / std::sqrt(8.0);
      };
      return attended(n, score, [&](int64_t j) { return at(v, {i[0], j, i[1], i[3]}); }, seen);
    };
    QKV_SAME(r["O"], (position{2, 3, n, 5}), [&](auto i) { return expected(i, all); });
    QKV_SAME(r["P"], (position{2, 3, n, 5}),
             [&](auto i) { return expected(i, [&](int64_t j) { return j <= i[2]; }); });
  }
}

}  // namespace qkv::testing
