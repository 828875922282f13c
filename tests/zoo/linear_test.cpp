// SPDX-License-Identifier: BSL-1.0
// linear_attention, causal_linear_attention.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

constexpr auto full =
    kernel<"full">([](Q_ Q, K_ K, V_ V) -> outs<O_, out<"P", batch, heads, seq, d_v>> {
      return {linear_attention<d_k, mem>(elu_plus_one(Q), elu_plus_one(K), V),
              linear_attention<d_k, mem>(softmax<d_k>(Q), plain(softmax<d_k>(K)), V, 1e-3)};
    });
constexpr auto causally = kernel<"causally">(
    [](Q_ Q, in<"K", batch, heads, seq, d_k> K, in<"V", batch, heads, seq, d_v> V) -> O_ {
      return causal_linear_attention<d_k, seq, d_v>(elu_plus_one(Q), elu_plus_one(K), V);
    });

constexpr auto padded =
    kernel<"padded">([](Q_ Q, in<"K", batch, heads, seq, d_k> K, in<"V", batch, heads, seq, d_v> V,
                        in<"len", i32, batch> len) -> O_ {
      auto keys = mask_rows(elu_plus_one(K), index(seq) < len);
      return causal_linear_attention<d_k, seq, d_v>(elu_plus_one(Q), keys, V, 1e-3);
    });

double positive(double x) { return x < 0 ? std::exp(x) : x + 1; }

// phi(q) . phi(k), phi of the row that starts at i with 6 features.
template <class Phi>
double weight(const arrays &a, const position &i, int64_t j, Phi phi) {
  return sum_of(6, [&](int64_t k) {
    return phi(a.at("Q"), position{i[0], i[1], i[2], k}) *
           phi(a.at("K"), position{i[0], i[1], j, k});
  });
}

double soft(const array &x, const position &i) {
  return std::exp(at(x, i)) /
         sum_of(6, [&](int64_t k) { return std::exp(at(x, {i[0], i[1], i[2], k})); });
}

template <class Weight>
double mean_of(const arrays &a, const position &i, int64_t m, Weight w, double epsilon) {
  return sum_of(m, [&](int64_t j) { return w(j) * at(a.at("V"), {i[0], i[1], j, i[3]}); }) /
         (sum_of(m, w) + epsilon);
}

}  // namespace

TEST_CASE("linear_attention: weights phi(q) phi(k), all pairs written out") {
  const auto phi = [](const array &x, const position &i) { return positive(at(x, i)); };
  for (auto [n, m] : pairs_of_sizes) {
    const arrays a = arguments_of(full, {{"batch", 2}, {"seq", n}, {"mem", m}});
    arrays r = meaning(full, a);
    QKV_SAME(r["O"], (position{2, 3, n, 5}), [&, m = m](auto i) {
      return mean_of(a, i, m, [&](int64_t j) { return weight(a, i, j, phi); }, 0);
    });
    QKV_SAME(r["P"], (position{2, 3, n, 5}), [&, m = m](auto i) {
      return mean_of(a, i, m, [&](int64_t j) { return weight(a, i, j, soft); }, 1e-3);
    });
  }
}

TEST_CASE("causal_linear_attention: the keys up to the query") {
  const auto phi = [](const array &x, const position &i) { return positive(at(x, i)); };
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(causally, {{"batch", 2}, {"seq", n}});
    QKV_SAME(meaning(causally, a)["O"], (position{2, 3, n, 5}), [&](auto i) {
      return mean_of(a, i, i[2] + 1, [&](int64_t j) { return weight(a, i, j, phi); }, 0);
    });
  }
}

TEST_CASE("causal_linear_attention: masked keys are left out") {
  const auto phi = [](const array &x, const position &i) { return positive(at(x, i)); };
  for (int64_t n : self_sizes) {
    const arrays a = arguments_of(padded, {{"batch", 2}, {"seq", n}},
                                  {{"len", {{2}, {static_cast<double>(n) / 2, 1}}}});
    QKV_SAME(meaning(padded, a)["O"], (position{2, 3, n, 5}), [&](auto i) {
      const auto seen = static_cast<int64_t>(a.at("len").data[static_cast<std::size_t>(i[0])]);
      return mean_of(
          a, i, std::min(i[2] + 1, seen), [&](int64_t j) { return weight(a, i, j, phi); }, 1e-3);
    });
  }
}

}  // namespace qkv::testing
