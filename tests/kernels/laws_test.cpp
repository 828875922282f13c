// SPDX-License-Identifier: BSL-1.0
// Laws of attention, whatever the numbers: each on 50 random shapes, through compiled kernels.
#include <qkv/call.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "tests/catch.hpp"
#include "tests/kernels/specs.hpp"
#include "tests/support/larger_of.hpp"

namespace {

using namespace qkv;
using namespace specs;
using qkv::testing::larger_of;

using queries = tensor<batch, heads, seq, d_k>;
using keys = tensor<batch, heads, mem, d_k>;
using values = tensor<batch, heads, mem, d_v>;
using results = tensor<batch, heads, seq, d_v>;
using self_keys = tensor<batch, heads, kv, d_k>;
using self_values = tensor<batch, heads, kv, d_v>;

constexpr int shapes = 50;

// A shape and its numbers; the same for the same seed. Edges of tiles are as likely as anything
// between them.
struct problem {
  explicit problem(unsigned seed)
      : random(seed),
        b(size({1, 2, 3})),
        n(length()),
        m(length()),
        Q({b, n}),
        K({b, m}),
        V({b, m}) {
    fill(Q), fill(K), fill(V);
  }
  template <class T>
  void fill(T &t) {
    std::normal_distribution<float> normal;
    for (auto &x : t) x = normal(random);
  }
  int size(std::initializer_list<int> of) { return of.begin()[random() % of.size()]; }
  int length() {
    return random() % 2 ? size({1, 2, 16, 31, 32, 33, 64, 127, 128, 129})
                        : 1 + static_cast<int>(random() % 300);
  }
  results attend() const {
    results O({b, n});
    REQUIRE(call<full>(Q, K, V, O).ok());
    return O;
  }

  std::mt19937 random;
  int b, n, m;
  queries Q;
  keys K;
  values V;
};

// Largest difference; outputs are means of values of order 1.
template <class T>
float difference(const T &a, const T &b) {
  REQUIRE(a.elements() == b.elements());
  float worst = 0;
  for (std::int64_t k = 0; k < a.elements(); ++k)
    worst = larger_of(worst, a.data()[k] - b.data()[k]);
  return worst;
}
constexpr float rounding = 4e-6f;

template <class F>
void for_all_shapes(F law) {
  for (unsigned seed = 1; seed <= shapes; ++seed) {
    problem p(seed);
    INFO("seed " << seed << ": batch " << p.b << ", " << p.n << " queries, " << p.m << " keys");
    law(p);
  }
}

// Keys and values in this order.
std::pair<keys, values> reordered(const problem &p, const std::vector<int> &order) {
  const int m = static_cast<int>(order.size());
  keys K({p.b, m});
  values V({p.b, m});
  for (int b = 0; b < p.b; ++b)
    for (int h = 0; h < 3; ++h)
      for (int j = 0; j < m; ++j) {
        std::memcpy(&K(b, h, j, 0), &p.K(b, h, order[static_cast<std::size_t>(j)], 0),
                    32 * sizeof(float));
        std::memcpy(&V(b, h, j, 0), &p.V(b, h, order[static_cast<std::size_t>(j)], 0),
                    64 * sizeof(float));
      }
  return {std::move(K), std::move(V)};
}

}  // namespace

TEST_CASE("keys and values in another order give the same") {
  for_all_shapes([](problem &p) {
    std::vector<int> order(static_cast<std::size_t>(p.m));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), p.random);
    const auto [K, V] = reordered(p, order);
    results O({p.b, p.n});
    REQUIRE(call<full>(p.Q, K, V, O).ok());
    CHECK(difference(O, p.attend()) <= rounding);
  });
}

TEST_CASE("scores shifted row by row give the same") {
  for_all_shapes([](problem &p) {
    tensor<heads, seq, mem> bias({p.n, p.m});
    for (int h = 0; h < 3; ++h)
      for (int i = 0; i < p.n; ++i) {
        const auto shift = static_cast<float>(p.random() % 9) - 4;
        for (int j = 0; j < p.m; ++j) bias(h, i, j) = shift;
      }
    results O({p.b, p.n});
    REQUIRE(call<biased>(p.Q, p.K, p.V, bias, O).ok());
    CHECK(difference(O, p.attend()) <= rounding);
  });
}

TEST_CASE("grouped heads equal repeated key heads") {
  for_all_shapes([](problem &p) {
    tensor<batch, q_heads, seq, d_k> Q({p.b, p.n});
    tensor<batch, kv_heads, mem, d_k> K({p.b, p.m});
    tensor<batch, kv_heads, mem, d_v> V({p.b, p.m});
    tensor<batch, q_heads, seq, d_v> O({p.b, p.n});
    p.fill(Q), p.fill(K), p.fill(V);
    REQUIRE(call<grouped>(Q, K, V, O).ok());
    float worst = 0;
    for (int g = 0; g < 2; ++g) {  // heads 3 g .. 3 g + 2 use key head g
      queries Q_g({p.b, p.n});
      keys K_g({p.b, p.m});
      values V_g({p.b, p.m});
      results O_g({p.b, p.n});
      for (int b = 0; b < p.b; ++b)
        for (int h = 0; h < 3; ++h) {
          std::memcpy(&Q_g(b, h, 0, 0), &Q(b, 3 * g + h, 0, 0),
                      static_cast<std::size_t>(p.n) * 32 * 4);
          std::memcpy(&K_g(b, h, 0, 0), &K(b, g, 0, 0), static_cast<std::size_t>(p.m) * 32 * 4);
          std::memcpy(&V_g(b, h, 0, 0), &V(b, g, 0, 0), static_cast<std::size_t>(p.m) * 64 * 4);
        }
      REQUIRE(call<full>(Q_g, K_g, V_g, O_g).ok());
      for (int b = 0; b < p.b; ++b)
        for (int h = 0; h < 3; ++h)
          for (int i = 0; i < p.n; ++i)
            for (int d = 0; d < 64; ++d)
              worst = larger_of(worst, O_g(b, h, i, d) - O(b, 3 * g + h, i, d));
    }
    CHECK(worst <= rounding);
  });
}

TEST_CASE("a causal mask equals the same mask written out") {
  for_all_shapes([](problem &p) {
    self_keys K({p.b, p.n});
    self_values V({p.b, p.n});
    p.fill(K), p.fill(V);
    results causal_result({p.b, p.n}), explicit_result({p.b, p.n});
    tensor<batch, heads, seq> lse({p.b, p.n});
    tensor<b8, batch, seq, mem> keep({p.b, p.n, p.n});
    for (int b = 0; b < p.b; ++b)
      for (int i = 0; i < p.n; ++i)
        for (int j = 0; j < p.n; ++j) keep(b, i, j) = j <= i;
    REQUIRE(call<causal_self>(p.Q, K, V, causal_result, lse).ok());
    REQUIRE(call<boolean_mask>(p.Q, view_as<batch, heads, mem, d_k>(K),
                               view_as<batch, heads, mem, d_v>(V), keep, explicit_result)
                .ok());
    CHECK(difference(causal_result, explicit_result) <= rounding);
  });
}

TEST_CASE("a mask equals taking the keys away") {
  for_all_shapes([](problem &p) {
    std::vector<int> left;
    for (int j = 0; j < p.m; ++j)
      if (p.random() % 3) left.push_back(j);
    tensor<b8, batch, seq, mem> keep({p.b, p.n, p.m});
    for (int b = 0; b < p.b; ++b)
      for (int i = 0; i < p.n; ++i)
        for (int j : left) keep(b, i, j) = 1;
    results masked({p.b, p.n}), taken_away({p.b, p.n});
    REQUIRE(call<boolean_mask>(p.Q, p.K, p.V, keep, masked).ok());
    const auto [K, V] = reordered(p, left);
    REQUIRE(call<full>(p.Q, K, V, taken_away).ok());
    CHECK(difference(masked, taken_away) <= rounding);
  });
}

// Each part by a call that gives (o, lse); parts may be empty.
TEST_CASE("parts of the keys, merged, equal the whole") {
  for_all_shapes([](problem &p) {
    tensor<batch, heads, mem, odd_v> U({p.b, p.m});
    tensor<batch, heads, seq, odd_v> P({p.b, p.n});
    tensor<batch, heads, seq> lse({p.b, p.n}), merged_lse({p.b, p.n});
    results O({p.b, p.n}), merged({p.b, p.n});
    p.fill(U);
    REQUIRE(call<two_values>(p.Q, p.K, p.V, U, O, P, lse).ok());

    const int parts = 1 + static_cast<int>(p.random() % 6);
    std::vector<int> edges = {0, p.m};
    for (int k = 1; k < parts; ++k)
      edges.push_back(static_cast<int>(p.random() % static_cast<unsigned>(p.m + 1)));
    std::sort(edges.begin(), edges.end());
    tensor<shards, batch, heads, seq, d_v> O_part({parts, p.b, p.n});
    tensor<shards, batch, heads, seq> lse_part({parts, p.b, p.n});
    for (int k = 0; k < parts; ++k) {
      const int first = edges[static_cast<std::size_t>(k)],
                count = edges[static_cast<std::size_t>(k) + 1] - first;
      const auto part = [&]<auto... Axes>(const auto &whole, std::int64_t width) {
        return const_tensor_view<Axes...>(whole.data() + first * width, {p.b, count},
                                          {3 * p.m * width, p.m * width, width, 1});
      };
      const auto K = part.template operator()<batch, heads, mem, d_k>(p.K, 32);
      const auto V = part.template operator()<batch, heads, mem, d_v>(p.V, 64);
      const auto U_k = part.template operator()<batch, heads, mem, odd_v>(U, 28);
      const std::int64_t rows = static_cast<std::int64_t>(p.b) * 3 * p.n;
      const tensor_view<batch, heads, seq, d_v> O_k(O_part.data() + k * rows * 64, {p.b, p.n});
      const tensor_view<batch, heads, seq> lse_k(lse_part.data() + k * rows, {p.b, p.n});
      REQUIRE(call<two_values>(p.Q, K, V, U_k, O_k, P, lse_k).ok());
    }
    REQUIRE(call<merged_shards>(O_part, lse_part, merged, merged_lse).ok());
    CHECK(difference(O, merged) <= rounding);
    CHECK(difference(lse, merged_lse) <= rounding);
  });
}

TEST_CASE("padding changes nothing") {
  for_all_shapes([](problem &p) {
    const int more = 1 + static_cast<int>(p.random() % 200);
    std::vector<int> order(static_cast<std::size_t>(p.m + more), 0);
    std::iota(order.begin(), order.begin() + p.m, 0);
    auto [K, V] = reordered(p, order);
    for (int b = 0; b < p.b; ++b)
      for (int h = 0; h < 3; ++h)
        for (int j = p.m; j < p.m + more; ++j) K(b, h, j, 0) = V(b, h, j, 0) = NAN;
    tensor<i32, batch> len({p.b});
    len.fill(p.m);
    results O({p.b, p.n});
    REQUIRE(call<specs::padding>(p.Q, K, V, len, O).ok());
    CHECK(difference(O, p.attend()) <= rounding);
  });
}

TEST_CASE("the company in a batch changes no bit") {
  for_all_shapes([](problem &p) {
    const results together = p.attend();
    const int b = static_cast<int>(p.random() % static_cast<unsigned>(p.b));
    const const_tensor_view<batch, heads, seq, d_k> Q(&p.Q(b, 0, 0, 0), {1, p.n});
    const const_tensor_view<batch, heads, mem, d_k> K(&p.K(b, 0, 0, 0), {1, p.m});
    const const_tensor_view<batch, heads, mem, d_v> V(&p.V(b, 0, 0, 0), {1, p.m});
    results alone({1, p.n});
    REQUIRE(call<full>(Q, K, V, alone).ok());
    CHECK(std::memcmp(alone.data(), &together(b, 0, 0, 0),
                      static_cast<std::size_t>(alone.elements()) * sizeof(float)) == 0);
  });
}

TEST_CASE("strides change no bit") {
  for_all_shapes([](problem &p) {
    const int gap = 1 + static_cast<int>(p.random() % 9), row = 64 + gap;
    std::vector<float> memory(static_cast<std::size_t>(p.b * 3 * p.m * row));
    const tensor_view<batch, heads, mem, d_v> V(memory.data(), {p.b, p.m},
                                                {row, p.b * row, p.b * 3 * row, 1});
    for (int b = 0; b < p.b; ++b)
      for (int h = 0; h < 3; ++h)
        for (int j = 0; j < p.m; ++j)
          for (int d = 0; d < 64; ++d) V(b, h, j, d) = p.V(b, h, j, d);
    results O({p.b, p.n});
    REQUIRE(call<full>(p.Q, p.K, V, O).ok());
    const results dense = p.attend();
    CHECK(std::memcmp(O.data(), dense.data(),
                      static_cast<std::size_t>(O.elements()) * sizeof(float)) == 0);
  });
}

TEST_CASE("rows of weights add up to one") {
  for_all_shapes([](problem &p) {
    results O({p.b, p.n});
    tensor<batch, heads, seq, mem> scores({p.b, p.n, p.m}), weights({p.b, p.n, p.m});
    REQUIRE(call<weights_out>(p.Q, p.K, p.V, O, scores, weights).ok());
    float worst = 0;
    for (int b = 0; b < p.b; ++b)
      for (int h = 0; h < 3; ++h)
        for (int i = 0; i < p.n; ++i) {
          double sum = 0;
          for (int j = 0; j < p.m; ++j) {
            sum += weights(b, h, i, j);
            worst = std::max(worst, weights(b, h, i, j) < 0 ? 1.f : 0.f);
          }
          worst = std::max(worst, static_cast<float>(std::abs(sum - 1)));
        }
    CHECK(worst <= 2e-6f);
    CHECK(difference(O, p.attend()) <= rounding);
  });
}
