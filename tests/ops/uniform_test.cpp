// SPDX-License-Identifier: BSL-1.0
#include <array>

#include "tests/ops/spec.hpp"

namespace qkv::testing {
namespace {

using seed_ = in<"seed", i32>;

constexpr auto drawn = kernel<"drawn">([
](X_ X, seed_ seed) -> outs<out<"u", row, column>, out<"of_row", row>, out<"fixed", column, row>> {
  return {X * 0 + uniform<row, column>(seed), sum<column>(X) * 0 + uniform<row>(seed + 1),
          X * 0 + uniform<column, row>(7)};
});
constexpr auto of_four = kernel<"of_four">(
    [](in<"X", batch, other, row, column> X, seed_ seed) -> out<"u", batch, other, row, column> {
      return X * 0 + uniform<batch, other, row, column>(seed);
    });

// pcg4d as the paper writes it; the last of its four words.
std::array<std::uint32_t, 4> pcg4d(std::uint32_t x, std::uint32_t y, std::uint32_t z,
                                   std::uint32_t w) {
  x = x * 1664525u + 1013904223u, y = y * 1664525u + 1013904223u;
  z = z * 1664525u + 1013904223u, w = w * 1664525u + 1013904223u;
  x += y * w, y += z * x, z += x * y, w += y * z;
  x ^= x >> 16, y ^= y >> 16, z ^= z >> 16, w ^= w >> 16;
  x += y * w, y += z * x, z += x * y, w += y * z;
  return {x, y, z, w};
}

double number_of(std::uint32_t word) { return (word >> 8) / 16777216.0; }

arrays with_seed(arrays a, double seed) {
  a["seed"] = {{}, {seed}};
  return a;
}

}  // namespace

TEST_CASE("uniform: the hash of the paper, of seed and positions") {
  for (const matrix_size n : matrix_sizes)
    for (const double seed : {0., 1., -1., 2000000000., -2147483648.}) {
      const arrays a = with_seed(matrices(n), seed);
      const auto s = static_cast<std::uint32_t>(static_cast<std::int64_t>(seed));
      const auto word = [](std::int64_t i) { return static_cast<std::uint32_t>(i); };
      const arrays r = meaning(drawn, a);
      QKV_SAME(r.at("u"), (position{n.rows, n.columns}),
               [&](auto i) { return number_of(pcg4d(word(i[0]), word(i[1]), s, 0)[3]); });
      QKV_SAME(r.at("fixed"), (position{n.columns, n.rows}),
               [&](auto i) { return number_of(pcg4d(word(i[0]), word(i[1]), 7, 0)[3]); });
      if (seed < 0) continue;  // the largest i32 has no successor
      QKV_SAME(r.at("of_row"), (position{n.rows}),
               [&](auto i) { return number_of(pcg4d(0, word(i[0]), s + 1, 0)[3]); });
    }
}

TEST_CASE("uniform: further axes come first, two at a time; float loops draw the same") {
  const arrays a = with_seed({{"X", {{2, 3, 4, 5}, std::vector<double>(120, 1)}}}, 123456789);
  const codegen::program p = codegen::make_program(of_four);
  const auto expected = [](const position &i) {
    const auto word = [&](std::size_t d) { return static_cast<std::uint32_t>(i[d]); };
    const auto outer = pcg4d(word(0), word(1), 123456789, 0);
    return number_of(pcg4d(word(2), word(3), outer[2], outer[3])[3]);
  };
  QKV_SAME(meaning(of_four, a)["u"], (position{2, 3, 4, 5}), expected);
  QKV_SAME(codegen::interpret_as_float(p, a, {}, codegen::order::in_sequence)["u"],
           (position{2, 3, 4, 5}), expected);
}

TEST_CASE("uniform: even, and without memory along any axis or of another seed") {
  const std::int64_t shape[] = {4, 8, 64, 128};
  const std::int64_t stride[] = {8 * 64 * 128, 64 * 128, 128, 1};
  const std::int64_t n = 4 * stride[0];
  const arrays ones = {
      {"X", {{4, 8, 64, 128}, std::vector<double>(static_cast<std::size_t>(n), 1)}}};
  const std::vector<double> u = meaning(of_four, with_seed(ones, 3))["u"].data,
                            other_seed = meaning(of_four, with_seed(ones, 4))["u"].data;
  // All sums below are of numbers with mean 0 and variance 1: five standard deviations.
  const auto is_small = [](double sum, double count) {
    return std::fabs(sum) < 5 * std::sqrt(count);
  };
  for (const double p : {0.1, 0.5, 0.9}) {
    const auto kept = [&](const std::vector<double> &of, std::int64_t k) {
      return ((of[static_cast<std::size_t>(k)] >= p) - (1 - p)) / std::sqrt(p * (1 - p));
    };
    double all = 0, seeds = 0;
    for (std::int64_t k = 0; k < n; ++k)
      all += kept(u, k), seeds += kept(u, k) * kept(other_seed, k);
    CHECK(is_small(all, static_cast<double>(n)));
    CHECK(is_small(seeds, static_cast<double>(n)));
    for (int d = 0; d < 4; ++d)
      for (std::int64_t lag = 1; lag < shape[d]; lag = 2 * lag + (lag > 4)) {
        INFO("p=" << p << " axis " << d << ", " << lag << " apart");
        double sum = 0, count = 0;
        for (std::int64_t k = 0; k < n; ++k)
          if (k / stride[d] % shape[d] + lag < shape[d])
            sum += kept(u, k) * kept(u, k + lag * stride[d]), ++count;
        CHECK(is_small(sum, count));
      }
  }
}

}  // namespace qkv::testing
