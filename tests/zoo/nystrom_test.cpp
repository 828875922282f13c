// SPDX-License-Identifier: BSL-1.0
// nystrom: landmarks, steps towards the inverse, sequences that do not depend on each other.
#include "tests/zoo/zoo.hpp"

namespace qkv::testing {
namespace {

inline constexpr axis<"l"> l;
inline constexpr alias<"m", l> m;
inline constexpr alias<"s", l> s;
inline constexpr axis<"segment"> segment;

constexpr auto approximate = kernel<"approximate">([](Q_ Q, K_self K, V_self V) -> O_ {
  return nystrom<d_k, seq, kv, l, m, s, segment>(Q, K, V);
});
constexpr auto two_steps = kernel<"two_steps">([](Q_ Q, K_self K, V_self V) -> O_ {
  return nystrom<d_k, seq, kv, l, m, s, segment, 2>(Q, K, V);
});
constexpr auto exact = kernel<"exact">(
    [](Q_ Q, K_self K, V_self V) -> O_ { return scaled_dot_product<d_k, kv>(Q, K, V); });

// Matrices row by row.
struct matrix {
  int64_t rows, columns;
  std::vector<double> x = std::vector<double>(static_cast<std::size_t>(rows * columns));
  double &operator()(int64_t i, int64_t j) { return x[static_cast<std::size_t>(i * columns + j)]; }
  double operator()(int64_t i, int64_t j) const {
    return x[static_cast<std::size_t>(i * columns + j)];
  }
};

matrix operator*(const matrix &a, const matrix &b) {
  matrix c{a.rows, b.columns};
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.columns; ++j)
      c(i, j) = sum_of(a.columns, [&](int64_t k) { return a(i, k) * b(k, j); });
  return c;
}

matrix number_less(double diagonal, const matrix &a) {  // diagonal * I - a
  matrix c = a;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) c(i, j) = (i == j ? diagonal : 0) - a(i, j);
  return c;
}

matrix part(const array &x, int64_t b, int64_t h) {
  matrix r{x.shape[2], x.shape[3]};
  for (int64_t i = 0; i < r.rows; ++i)
    for (int64_t j = 0; j < r.columns; ++j) r(i, j) = at(x, {b, h, i, j});
  return r;
}

matrix landmarks_of(const matrix &x, int64_t count) {
  matrix r{count, x.columns};
  const int64_t length = x.rows / count;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < x.columns; ++j)
      r(i, j) = sum_of(length, [&](int64_t k) { return x(i * length + k, j); }) /
                static_cast<double>(length);
  return r;
}

matrix weights(const matrix &q, const matrix &k) {
  matrix w{q.rows, k.rows};
  for (int64_t i = 0; i < q.rows; ++i) {
    const auto score = [&](int64_t j) {
      return sum_of(q.columns, [&](int64_t f) { return q(i, f) * k(j, f); }) /
             std::sqrt(static_cast<double>(q.columns));
    };
    const double lse = lse_of(k.rows, score, all);
    for (int64_t j = 0; j < k.rows; ++j) w(i, j) = std::exp(score(j) - lse);
  }
  return w;
}

matrix inverse_of(const matrix &a, int steps) {
  double rows = 0, columns = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    rows = std::max(rows, sum_of(a.rows, [&](int64_t j) { return a(i, j); }));
    columns = std::max(columns, sum_of(a.rows, [&](int64_t j) { return a(j, i); }));
  }
  matrix z = a;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.rows; ++j) z(i, j) = a(j, i) / (rows * columns);
  for (int step = 0; step < steps; ++step) {
    const matrix az = a * z;
    z = z * number_less(13, az * number_less(15, az * number_less(7, az)));
    for (double &x : z.x) x /= 4;
  }
  return z;
}

matrix nystrom_of(const matrix &q, const matrix &k, const matrix &v, int64_t count, int steps) {
  const matrix lq = landmarks_of(q, count), lk = landmarks_of(k, count);
  return weights(q, lk) * (inverse_of(weights(lq, lk), steps) * (weights(lq, k) * v));
}

template <class Kernel>
void check(const Kernel &kernel, int steps) {
  const std::pair<int64_t, int64_t> sizes[] = {
      {1, 1}, {2, 1}, {2, 2}, {3, 1},  {3, 3},  {4, 2},  {5, 1},  {5, 5},  {6, 2},  {6, 3},  {7, 1},
      {7, 7}, {8, 4}, {9, 3}, {10, 5}, {12, 4}, {15, 3}, {17, 1}, {32, 8}, {33, 3}, {33, 11}};
  for (auto [n, count] : sizes) {
    const arrays a = arguments_of(exact, {{"batch", 2}, {"seq", n}});
    const array got = meaning(kernel, a, {{"l", count}, {"segment", n / count}})["O"];
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t h = 0; h < 3; ++h) {
        const matrix want = nystrom_of(part(a.at("Q"), b, h), part(a.at("K"), b, h),
                                       part(a.at("V"), b, h), count, steps);
        const matrix is = part(got, b, h);
        double largest = 1, off = 0;
        for (double x : want.x) largest = std::max(largest, std::abs(x));
        for (std::size_t k = 0; k < want.x.size(); ++k)
          off = std::max(off, std::abs(is.x[k] - want.x[k]));
        INFO(fmt::format("{} positions, {} landmarks", n, count));
        CHECK(off <= 1e-12 * largest);
      }
  }
}

}  // namespace

TEST_CASE("nystrom: the published steps") { check(approximate, 6); }
TEST_CASE("nystrom: fewer of them") { check(two_steps, 2); }

TEST_CASE("nystrom: landmarks everywhere, keys far apart: plain softmax") {
  arrays a = arguments_of(exact, {{"batch", 1}, {"seq", 6}});
  for (int64_t h = 0; h < 3; ++h)
    for (int64_t i = 0; i < 6; ++i)
      for (int64_t f = 0; f < 6; ++f)
        a["Q"].data[static_cast<std::size_t>((h * 6 + i) * 6 + f)] =
            a["K"].data[static_cast<std::size_t>((h * 6 + i) * 6 + f)] = i == f ? 3 : 0;
  const array want = meaning(exact, a)["O"];
  const array got = meaning(approximate, a, {{"l", 6}, {"segment", 1}})["O"];
  for (std::size_t k = 0; k < want.data.size(); ++k)
    CHECK(std::abs(got.data[k] - want.data[k]) < 1e-9);
}

TEST_CASE("nystrom: a sequence gives the same alone") {
  arrays both = arguments_of(exact, {{"batch", 2}, {"seq", 12}});
  for (std::size_t k = both["K"].data.size() / 2; k < both["K"].data.size(); ++k)
    both["K"].data[k] *= 5;
  arrays alone = both;
  for (auto &[name, x] : alone) {
    x.shape[0] = 1;
    x.data.resize(x.data.size() / 2);
  }
  const codegen::size_map sizes = {{"l", 4}, {"segment", 3}};
  const array first = meaning(approximate, both, sizes)["O"],
              same = meaning(approximate, alone, sizes)["O"];
  CHECK(std::equal(same.data.begin(), same.data.end(), first.data.begin()));
}

TEST_CASE("nystrom: landmarks that do not divide the sequence are refused at the call") {
  const arrays a = arguments_of(exact, {{"batch", 1}, {"seq", 7}});
  CHECK_THROWS_WITH(meaning(approximate, a, {{"l", 2}, {"segment", 3}}),
                    "approximate: split<kv, m, segment>: kv is 7 but m * segment is 2 * 3");
}

}  // namespace qkv::testing
