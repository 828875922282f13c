// SPDX-License-Identifier: BSL-1.0
// The same random numbers on every target, whatever the schedule; what dropout leaves of weights.
#include <cmath>
#include <qkv/call.hpp>
#include <qkv/core/hash.hpp>
#include <random>
#include <vector>

#include "tests/catch.hpp"
#include "tests/kernels/dropout_specs.hpp"
#include "tests/support/places.hpp"

namespace {

using namespace qkv;
using testing::places;
using namespace dropped;

float drawn(const std::vector<std::uint32_t> &position, std::uint32_t seed) {
  return static_cast<float>(detail::random_bits(position, seed)) * 0x1p-24f;
}

std::uint32_t word(std::int64_t i) { return static_cast<std::uint32_t>(i); }

}  // namespace

TEST_CASE("every target draws the same numbers") {
  const int b = 2, n = 37, m = 53;
  tensor<batch, heads, seq, mem> X({b, 3, n, m}), u({b, 3, n, m});
  tensor<i32> seed;
  tensor<seq> row({n});
  for (const options &how : places())
    for (const std::int32_t s : {0, 12345, -5, 2147483647}) {
      INFO("on device " << static_cast<int>(how.on) << ", seed " << s);
      *seed.data() = s;
      REQUIRE(call<numbers>(how, X, seed, u, row).ok());
      int wrong = 0;
      for (int i = 0; i < n; ++i) {
        wrong += row(i) != drawn({word(i)}, word(s));
        for (int batch = 0; batch < b; ++batch)
          for (int h = 0; h < 3; ++h)
            for (int j = 0; j < m; ++j)
              wrong +=
                  u(batch, h, i, j) != drawn({word(batch), word(h), word(i), word(j)}, word(s));
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("dropped weights sum up to the part that is kept, over what the mask leaves") {
  const int n = 200;
  tensor<batch, heads, seq, d_k> Q({1, 3, n, 32});
  tensor<batch, heads, kv, d_k> K({1, 3, n, 32});
  tensor<batch, heads, kv, d_v> V({1, 3, n, 64});
  tensor<batch, heads, seq, d_v> O({1, 3, n, 64});
  tensor<batch, heads, seq> lse({1, 3, n});
  tensor<i32> seed;
  *seed.data() = 77;
  V.fill(1);  // no scores: the weights of row i are 1 / (i + 1), in O the number of those kept
  for (const options &how : places()) {
    REQUIRE(call<dropped_weights>(how, Q, K, V, seed, O, lse).ok());
    for (int h = 0; h < 3; ++h)
      for (int i = 0; i < n; ++i) {
        int kept = 0;
        for (int j = 0; j <= i; ++j) kept += drawn({0, word(h), word(i), word(j)}, 77) >= 0.2f;
        INFO("head " << h << " row " << i);
        CHECK(std::fabs(O(0, h, i, 5) -
                        static_cast<float>(kept) / 0.8f / static_cast<float>(i + 1)) < 1e-6f);
        CHECK(std::fabs(lse(0, h, i) - std::log(static_cast<float>(i + 1))) < 1e-6f);
      }
  }
}
