// SPDX-License-Identifier: BSL-1.0
// Attention that needs no function of its own: other normalisers, low-rank values, one query,
// scores of 1e4.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

inline constexpr axis<"rank", 2> rank;

// Weights phi(s) / sum of phi(s), phi positive.
using Each = outs<out<"relu", batch, heads, seq, d_v>, out<"squared", batch, heads, seq, d_v>,
                  out<"sigmoid", batch, heads, seq, d_v>, out<"softplus", batch, heads, seq, d_v>,
                  out<"elu", batch, heads, seq, d_v>, out<"power", batch, heads, seq, d_v>>;
constexpr auto normalisers =
    kernel<"normalisers">([](S_ S, V_ V, in<"keep", b8, batch, heads, seq, mem> keep) -> Each {
      const auto attend = [&](auto phi) { return dot<mem>(normalize<mem>(phi(mask(S, keep))), V); };
      return {attend([](auto s) { return relu(s); }),
              attend([](auto s) { return relu(s) * relu(s); }),
              attend([](auto s) { return sigmoid(s); }),
              attend([](auto s) { return log(1 + exp(s)); }),
              attend([](auto s) { return elu_plus_one(s); }),
              attend([](auto s) { return pow(abs(s), 1.5); })};
    });
constexpr auto low_rank = kernel<"low_rank">(
    [](Q_ Q, K_ K, in<"U", batch, heads, mem, rank> U, param<"A", rank, d_v> A) -> O_ {
      return scaled_dot_product<d_k, mem>(Q, K, dot<rank>(U, A));
    });
constexpr auto one_query = kernel<"one_query">(
    [](in<"q", d_k> q, in<"K", mem, d_k> K, in<"V", mem, d_v> V) -> out<"o", d_v> {
      return scaled_dot_product<d_k, mem>(q, K, V);
    });
constexpr auto unscaled = kernel<"unscaled">(
    [](Q_ Q, K_ K, V_ V) -> O_ { return dot<mem>(softmax<mem>(dot<d_k>(Q * 1e4, K)), V); });

}  // namespace

TEST_CASE("any positive function as weights") {
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(normalisers, {{"batch", 2}, {"seq", n}, {"mem", m}});
    arrays r = meaning(normalisers, a);
    const auto same = [&, n = n, m = m](const char *name, auto phi) {
      INFO(name);
      QKV_SAME(r[name], (position{2, 3, n, 5}), [&](auto i) {
        const auto weight = [&](int64_t j) {
          const position at_j = {i[0], i[1], i[2], j};
          return at(a.at("keep"), at_j) != 0 ? phi(at(a.at("S"), at_j)) : 0;
        };
        const double total = sum_of(m, weight);
        return total == 0 ? 0 : sum_of(m, [&](int64_t j) {
          return weight(j) * at(a.at("V"), {i[0], i[1], j, i[3]}) / total;
        });
      });
    };
    same("relu", [](double s) { return s < 0 ? 0 : s; });
    same("squared", [](double s) { return s < 0 ? 0 : s * s; });
    same("sigmoid", [](double s) { return 1 / (1 + std::exp(-s)); });
    same("softplus", [](double s) { return std::log1p(std::exp(s)); });
    same("elu", [](double s) { return s < 0 ? std::exp(s) : s + 1; });
    same("power", [](double s) { return std::sqrt(std::abs(s)) * std::abs(s); });
  }
}

TEST_CASE("values of low rank, one query, scores of 1e4") {
  for (auto [n, m] : pairs_of_sizes) {
    const codegen::size_map sizes = {{"batch", 2}, {"seq", n}, {"mem", m}};
    const arrays a = arguments_of(low_rank, sizes), b = arguments_of(unscaled, sizes);
    const arrays c = arguments_of(one_query, {{"mem", m}});
    QKV_SAME(meaning(low_rank, a)["O"], (position{2, 3, n, 5}), [&, m = m](auto i) {
      return attended(
          m, [&](int64_t j) { return product(a, i, j) / std::sqrt(6.0); },
          [&](int64_t j) {
            return sum_of(2, [&](int64_t k) {
              return at(a.at("U"), {i[0], i[1], j, k}) * at(a.at("A"), {k, i[3]});
            });
          },
          all);
    });
    QKV_SAME(meaning(one_query, c)["o"], (position{5}), [&, m = m](auto i) {
      return attended(
          m,
          [&](int64_t j) {
            return sum_of(6,
                          [&](int64_t k) { return at(c.at("q"), {k}) * at(c.at("K"), {j, k}); }) /
                   std::sqrt(6.0);
          },
          [&](int64_t j) { return at(c.at("V"), {j, i[0]}); }, all);
    });
    // the last digits of the scores decide the weights, but not that they are finite
    const array got = meaning(unscaled, b)["O"];
    for (double x : got.data) CHECK(std::isfinite(x));
  }
}

}  // namespace qkv::testing
