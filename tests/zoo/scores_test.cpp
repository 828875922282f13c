// SPDX-License-Identifier: BSL-1.0
// Luong's and Bahdanau's scores, learned queries.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

inline constexpr axis<"of_h", 4> of_h;
inline constexpr axis<"of_s", 3> of_s;
inline constexpr axis<"both", 7> both;
inline constexpr axis<"twice", 6> twice;
inline constexpr axis<"hidden", 5> hidden;
inline constexpr axis<"queries", 2> queries;
using H_ = in<"h", batch, seq, of_h>;
using S_in = in<"s", batch, mem, of_s>;
using C_ = out<"C", batch, seq, of_s>;

constexpr auto dotted =
    kernel<"dotted">([](in<"h", batch, seq, of_s> h, S_in s,
                        param<"W", twice, hidden> W) -> outs<C_, out<"Y", batch, seq, hidden>> {
      auto context = dot<mem>(softmax<mem>(luong_dot<of_s>(h, s)), s);
      return {context, luong_output<twice, of_s, of_s>(context, h, W)};
    });
constexpr auto general =
    kernel<"general">([](H_ h, S_in s, param<"W", of_h, of_s> W,
                         param<"Wc", both, hidden> Wc) -> outs<C_, out<"Y", batch, seq, hidden>> {
      auto context = dot<mem>(softmax<mem>(luong_general<of_h, of_s>(h, W, s)), s);
      return {context, luong_output<both, of_s, of_h>(context, h, Wc)};
    });
constexpr auto joined =
    kernel<"joined">([](H_ h, S_in s, param<"W", both, hidden> W, param<"v", hidden> v) -> C_ {
      return dot<mem>(softmax<mem>(luong_concat<both, of_h, of_s, hidden>(h, s, W, v)), s);
    });
constexpr auto additive =
    kernel<"additive">([](H_ h, S_in s, param<"W", of_h, hidden> W, param<"U", of_s, hidden> U,
                          param<"v", hidden> v, in<"length", i32, batch> length) -> C_ {
      auto scores = bahdanau<seq, mem, of_h, of_s, hidden>(h, s, W, U, v);
      return dot<mem>(softmax<mem>(mask(scores, padding<mem>(length))), s);
    });
constexpr auto pooled =
    kernel<"pooled">([](in<"X", batch, mem, of_s> X, param<"q", of_s> q,
                        param<"p", queries, of_s> p, in<"length", i32, batch> length)
                         -> outs<out<"Y", batch, of_s>, out<"Z", batch, queries, of_s>> {
      return {attention_pooling<of_s, mem>(X, q),
              attention_pooling<of_s, mem>(X, p, padding<mem>(length))};
    });

struct reader {
  const arrays &a;
  double operator()(const char *name, const position &i) const { return at(a.at(name), i); }
};

// tanh(W [c; h]) of the context c.
double output_of(const reader &x, const char *W, const array &C, const position &i,
                 int64_t of_query) {
  return std::tanh(
      sum_of(3, [&](int64_t k) { return at(C, {i[0], i[1], k}) * x(W, {k, i[2]}); }) +
      sum_of(of_query, [&](int64_t k) { return x("h", {i[0], i[1], k}) * x(W, {3 + k, i[2]}); }));
}

}  // namespace

TEST_CASE("luong: dot, general, and the output") {
  for (auto [n, m] : pairs_of_sizes) {
    const codegen::size_map sizes = {{"batch", 2}, {"seq", n}, {"mem", m}};
    for (bool with_matrix : {false, true}) {
      const arrays a = with_matrix ? arguments_of(general, sizes) : arguments_of(dotted, sizes);
      arrays r = with_matrix ? meaning(general, a) : meaning(dotted, a);
      const reader x{a};
      QKV_SAME(r["C"], (position{2, n, 3}), [&, m = m](auto i) {
        const auto score = [&](int64_t j) {
          return sum_of(3, [&](int64_t k) {
            const double h =
                with_matrix
                    ? sum_of(4, [&](int64_t l) { return x("h", {i[0], i[1], l}) * x("W", {l, k}); })
                    : x("h", {i[0], i[1], k});
            return h * x("s", {i[0], j, k});
          });
        };
        return attended(m, score, [&](int64_t j) { return x("s", {i[0], j, i[2]}); }, all);
      });
      QKV_SAME(r["Y"], (position{2, n, 5}), [&](auto i) {
        return output_of(x, with_matrix ? "Wc" : "W", r["C"], i, with_matrix ? 4 : 3);
      });
    }
  }
}

TEST_CASE("luong_concat and bahdanau: v' tanh(W [h; s]), v' tanh(W h + U s)") {
  for (auto [n, m] : pairs_of_sizes) {
    const codegen::size_map sizes = {{"batch", 2}, {"seq", n}, {"mem", m}};
    const arrays c = arguments_of(joined, sizes), b = arguments_of(additive, sizes);
    const auto expected = [&, m = m](const arrays &a, bool in_parts) {
      return [&, m, x = reader{a}, in_parts](auto i) {
        const auto score = [&](int64_t j) {
          return sum_of(5, [&](int64_t f) {
            const double of_query =
                sum_of(4, [&](int64_t k) { return x("h", {i[0], i[1], k}) * x("W", {k, f}); });
            const double of_key = sum_of(3, [&](int64_t k) {
              return x("s", {i[0], j, k}) * (in_parts ? x("U", {k, f}) : x("W", {4 + k, f}));
            });
            return x("v", {f}) * std::tanh(of_query + of_key);
          });
        };
        return attended(
            m, score, [&](int64_t j) { return x("s", {i[0], j, i[2]}); },
            [&](int64_t j) { return !in_parts || static_cast<double>(j) < x("length", {i[0]}); });
      };
    };
    QKV_SAME(meaning(joined, c)["C"], (position{2, n, 3}), expected(c, false));
    QKV_SAME(meaning(additive, b)["C"], (position{2, n, 3}), expected(b, true));
  }
}

TEST_CASE("attention_pooling: learned queries") {
  for (int64_t m : self_sizes) {
    const arrays a = arguments_of(pooled, {{"batch", 2}, {"mem", m}});
    arrays r = meaning(pooled, a);
    const reader x{a};
    const auto pool = [&](int64_t b, int64_t feature, auto query, auto seen) {
      return attended(
          m,
          [&](int64_t j) {
            return sum_of(3, [&](int64_t k) { return x("X", {b, j, k}) * query(k); }) /
                   std::sqrt(3.);
          },
          [&](int64_t j) { return x("X", {b, j, feature}); }, seen);
    };
    QKV_SAME(r["Y"], (position{2, 3}),
             [&](auto i) { return pool(i[0], i[1], [&](int64_t k) { return x("q", {k}); }, all); });
    QKV_SAME(r["Z"], (position{2, 2, 3}), [&](auto i) {
      return pool(
          i[0], i[2], [&](int64_t k) { return x("p", {i[1], k}); },
          [&](int64_t j) { return static_cast<double>(j) < x("length", {i[0]}); });
    });
  }
}

}  // namespace qkv::testing
