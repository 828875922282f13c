// SPDX-License-Identifier: BSL-1.0
#include "loops.hpp"

#include <algorithm>
#include <cmath>
#include <qkv/call.hpp>
#include <random>
#include <vector>

#include "spec.hpp"

namespace costs {
namespace {

using namespace qkv;
constexpr int heads = 8, n = 128, d = 64, rank = 8, landmarks = 64, length = 100;
using matrix = std::vector<std::vector<double>>;

template <class Tensor>
Tensor random(int seed, Tensor t) {
  std::mt19937 bits(static_cast<unsigned>(seed));
  std::normal_distribution<float> normal;
  for (float &x : t) x = normal(bits);
  return t;
}

struct tokens {
  tensor<my::heads, my::seq, my::d_k> Q;
  tensor<my::heads, my::kv, my::d_k> K;
  tensor<my::heads, my::kv, my::d_v> V;
  tensor<my::heads, my::seq, my::d_v> O;
  tokens()
      : Q(random(1, decltype(Q)({n}))),
        K(random(2, decltype(K)({n}))),
        V(random(3, decltype(V)({n}))),
        O({n}) {}
};

// The rows of one head.
matrix rows_of(const auto &t, int head, int rows, int columns = d) {
  matrix m;
  const float *x = t.begin() + head * rows * columns;
  for (int i = 0; i < rows; ++i, x += columns) m.emplace_back(x, x + columns);
  return m;
}

double product(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

// The mean of rows, weighted by numbers that need not add up to 1.
template <class Weight>
std::vector<double> mean(const matrix &rows, Weight weight) {
  std::vector<double> sum(rows[0].size());
  double total = 0;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const double w = weight(j);
    total += w;
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += w * rows[j][k];
  }
  for (double &x : sum) x /= total;
  return sum;
}

matrix attend(const matrix &Q, const matrix &K, const matrix &V) {
  matrix O;
  for (const auto &q : Q)
    O.push_back(mean(V, [&](std::size_t j) { return std::exp(product(q, K[j]) / std::sqrt(d)); }));
  return O;
}

// Compares each head of the result of a call with the rows that are expected of it.
template <class Expected>
bool near(const status &called, const auto &O, int rows, Expected expected) {
  if (!called) return false;
  for (int h = 0; h < heads; ++h) {
    const matrix found = rows_of(O, h, rows), right = expected(h);
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t k = 0; k < d; ++k)
        if (!(std::abs(found[i][k] - right[i][k]) < tolerance)) return false;  // nor is NaN near
  }
  return true;
}

}  // namespace

bool full_attention_is_right() {
  tokens t;
  return near(call<my::full_attention>(t.Q, t.K, t.V, t.O), t.O, n, [&](int h) {
    return attend(rows_of(t.Q, h, n), rows_of(t.K, h, n), rows_of(t.V, h, n));
  });
}

bool low_rank_is_right() {
  tokens t;
  const auto U = random(4, tensor<my::heads, my::kv, my::r>({n}));
  const auto A = random(5, tensor<my::heads, my::r, my::d_v>());
  return near(call<my::low_rank>(t.Q, t.K, U, A, t.O), t.O, n, [&](int h) {
    const matrix a = rows_of(A, h, rank);
    matrix V(n, std::vector<double>(d));
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < d; ++k)
        for (int c = 0; c < rank; ++c)
          V[std::size_t(j)][std::size_t(k)] += U(h, j, c) * a[std::size_t(c)][std::size_t(k)];
    return attend(rows_of(t.Q, h, n), rows_of(t.K, h, n), V);
  });
}

bool linear_is_right() {
  tokens t;
  const auto mapped = [](matrix m) {
    for (auto &row : m)
      for (double &x : row) x = x > 0 ? x + 1 : std::exp(x);
    return m;
  };
  return near(call<my::linear>(t.Q, t.K, t.V, t.O), t.O, n, [&](int h) {
    const matrix K = mapped(rows_of(t.K, h, n)), V = rows_of(t.V, h, n);
    matrix O;
    for (const auto &q : mapped(rows_of(t.Q, h, n)))
      O.push_back(mean(V, [&](std::size_t j) { return product(q, K[j]); }));
    return O;
  });
}

bool landmarks_is_right() {
  tokens t;
  constexpr int segment = n / landmarks;
  return near(call<my::landmarks>(t.Q, t.K, t.V, t.O), t.O, n, [&](int h) {
    const matrix Q = rows_of(t.Q, h, n);
    matrix L;
    for (auto first = Q.begin(); first != Q.end(); first += segment)
      L.push_back(mean({first, first + segment}, [](std::size_t) { return 1; }));
    return attend(Q, L, attend(L, rows_of(t.K, h, n), rows_of(t.V, h, n)));
  });
}

// The cache has more slots than keys.
bool cached_is_right() {
  const auto q = random(1, tensor<my::heads, my::d_k>());
  const auto K = random(2, tensor<my::heads, my::kv, my::d_k>({n}));
  const auto V = random(3, tensor<my::heads, my::kv, my::d_v>({n}));
  tensor<i32> used;
  *used.begin() = length;
  tensor<my::heads, my::d_v> o;
  return near(call<my::cached>(q, K, V, used, o), o, 1, [&](int h) {
    matrix used_keys = rows_of(K, h, n), used_values = rows_of(V, h, n);
    used_keys.resize(length), used_values.resize(length);
    return attend(rows_of(q, h, 1), used_keys, used_values);
  });
}

bool multi_query_is_right() {
  const auto q = random(1, tensor<my::heads, my::d_k>());
  const auto K = random(2, tensor<my::kv, my::d_k>({n}));
  const auto V = random(3, tensor<my::kv, my::d_v>({n}));
  tensor<i32> used;
  *used.begin() = length;
  tensor<my::heads, my::d_v> o;
  return near(call<my::multi_query>(q, K, V, used, o), o, 1, [&](int h) {
    return attend(rows_of(q, h, 1), rows_of(K, 0, length), rows_of(V, 0, length));
  });
}

}  // namespace costs
