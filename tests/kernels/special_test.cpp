// SPDX-License-Identifier: BSL-1.0
// Exact properties: masked numbers leave no trace, empty rows give 0, results depend on nothing but
// the operands.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <qkv/call.hpp>
#include <qkv/registry.hpp>
#include <qkv/workspace.hpp>

#include "test_other_kernels.kernels.h"
#include "tests/catch.hpp"
#include "tests/kernels/specs.hpp"
#include "tests/kernels/trial.hpp"
#include "tests/support/places.hpp"

namespace {

using namespace qkv;
using testing::places;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <class Tensor>
void randomize(Tensor &t, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  for (auto &x : t) x = normal(random);
}

template <class Tensor>
bool same_bits(const Tensor &a, const Tensor &b) {
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.elements()) * sizeof(float)) ==
         0;
}

// The share of a value that a product with 1 may lose: on CUDA, products of f32 are three of TF32,
// which have 23 of its 24 bits.
float lost_by(const options &how) { return how.on == device::cuda ? 0x1p-23f : 0; }

// An element that is to have the weight 1.
bool is_value(float result, float value, const options &how) {
  return std::fabs(result - value) <= lost_by(how) * std::fabs(value);
}

using query = tensor<specs::batch, specs::heads, specs::seq, specs::d_k>;
using self_key = tensor<specs::batch, specs::heads, specs::kv, specs::d_k>;
using self_value = tensor<specs::batch, specs::heads, specs::kv, specs::d_v>;
using key = tensor<specs::batch, specs::heads, specs::mem, specs::d_k>;
using value_ = tensor<specs::batch, specs::heads, specs::mem, specs::d_v>;
using result = tensor<specs::batch, specs::heads, specs::seq, specs::d_v>;
using statistic = tensor<specs::batch, specs::heads, specs::seq>;

}  // namespace

TEST_CASE("what stands behind a mask leaves no trace") {
  for (const options &how : places()) {
    INFO("on device " << static_cast<int>(how.on));
    const int n = 150;
    query Q({1, n});
    self_key K({1, n});
    self_value V({1, n});
    result clean({1, n}), dirty({1, n});
    statistic lse({1, n});
    randomize(Q, 1), randomize(K, 2), randomize(V, 3);
    REQUIRE(call<specs::causal_self>(how, Q, K, V, clean, lse).ok());
    const int bad = 131;  // inside a block of keys that earlier rows see too
    for (int h = 0; h < 3; ++h) {
      for (int d = 0; d < 32; ++d) K(0, h, bad, d) = d % 2 ? not_a_number : infinity;
      for (int d = 0; d < 64; ++d) V(0, h, bad, d) = d % 2 ? not_a_number : -infinity;
    }
    REQUIRE(call<specs::causal_self>(how, Q, K, V, dirty, lse).ok());
    for (int h = 0; h < 3; ++h)
      for (int i = 0; i < n; ++i)
        for (int d = 0; d < 64; ++d) {
          INFO("head " << h << " row " << i << " column " << d);
          if (i < bad)
            // the two loops may round differently: one fuses its multiply and add, or takes
            // products of TF32, the other need not
            REQUIRE(std::fabs(dirty(0, h, i, d) - clean(0, h, i, d)) <=
                    4 * 0x1p-24f + 2 * lost_by(how));
          else
            REQUIRE(std::isnan(dirty(0, h, i, d)));  // a visible NaN is not hidden
        }
  }
}

TEST_CASE("a visible NaN comes through, whichever operand holds it") {
  for (const options &how : places()) {
    INFO("on device " << static_cast<int>(how.on));
    const int n = 50, bad = 21;
    for (const float wrong : {not_a_number, std::bit_cast<float>(0xffffffffu), infinity}) {
      for (const bool in_query : {true, false}) {
        query Q({2, n});
        key K({2, n});
        value_ V({2, n});
        result O({2, n});
        tensor<specs::batch, specs::heads, specs::mem, specs::odd_v> U({2, n});
        tensor<specs::batch, specs::heads, specs::seq, specs::odd_v> P({2, n});
        statistic lse({2, n});
        randomize(Q, 1), randomize(K, 2), randomize(V, 3), randomize(U, 4);
        Q(1, 2, bad, 7) = std::abs(Q(1, 2, bad, 7)), K(1, 2, bad, 7) = std::abs(K(1, 2, bad, 7));
        (in_query ? Q(1, 2, bad, 7) : K(1, 2, bad, 7)) = wrong;
        REQUIRE(call<specs::two_values>(how, Q, K, V, U, O, P, lse).ok());
        for (int i = 0; i < n; ++i) {
          INFO("row " << i << (in_query ? ", Q is " : ", K is ") << wrong);
          // an infinite score wins over all others only where the other factor is positive
          const bool nan = in_query ? i == bad : wrong != infinity || Q(1, 2, i, 7) > 0;
          CHECK(std::isnan(O(1, 2, i, 0)) == nan);
          CHECK(std::isnan(P(1, 2, i, 0)) == nan);
          if (nan && wrong != infinity) CHECK(std::isnan(lse(1, 2, i)));
          CHECK(std::isfinite(O(0, 2, i, 0)));
        }
      }
    }
  }
}

TEST_CASE("functions keep NaN and infinity as their limits say") {
  for (const options &how : places()) {
    INFO("on device " << static_cast<int>(how.on));
    tensor<specs::i> x({4}), log({4}), relu({4}), elu({4}), erf({4}), exp({4}), tanh({4}),
        sigmoid({4});
    x(0) = not_a_number, x(1) = infinity, x(2) = -infinity, x(3) = 0;
    REQUIRE(call<specs::limits>(how, x, log, relu, elu, erf, exp, tanh, sigmoid).ok());
    for (const auto *f : {&log, &relu, &elu, &erf, &exp, &tanh, &sigmoid})
      CHECK(std::isnan((*f)(0)));
    CHECK((log(1) == infinity && std::isnan(log(2)) && log(3) == -infinity));
    CHECK((relu(1) == infinity && relu(2) == 0 && relu(3) == 0));
    CHECK((elu(1) == infinity && elu(2) == -1 && elu(3) == 0));
    CHECK((erf(1) == 1 && erf(2) == -1 && erf(3) == 0));
    CHECK((exp(1) == infinity && exp(2) == 0 && exp(3) == 1));
    CHECK((tanh(1) == 1 && tanh(2) == -1 && tanh(3) == 0));
    CHECK((sigmoid(1) == 1 && sigmoid(2) == 0 && sigmoid(3) == 0.5f));
  }
}

TEST_CASE("a length beyond all keys hides nothing") {
  query Q({1, 20});
  key K({1, 30});
  value_ V({1, 30});
  tensor<i32, specs::batch> len({1});
  randomize(Q, 1), randomize(K, 2), randomize(V, 3);
  result all({1, 20}), O({1, 20});
  REQUIRE(call<specs::full>(Q, K, V, all).ok());
  for (const int n : {30, 31, std::numeric_limits<int>::max()}) {
    len(0) = n;
    REQUIRE(call<specs::padding>(Q, K, V, len, O).ok());
    CHECK(same_bits(O, all));
  }
}

// first_key and first_query are far beyond every position, their difference is not.
TEST_CASE("only the difference of far positions counts") {
  query Q({1, 100});
  key K({1, 300});
  value_ V({1, 300});
  randomize(Q, 1), randomize(K, 2), randomize(V, 3);
  result near({1, 100}), O({1, 100});
  tensor<i32> first_query, first_key;
  for (const int apart : {0, 150, -50}) {
    first_query() = apart, first_key() = 0;
    REQUIRE(call<specs::far_positions>(Q, K, V, first_query, first_key, near).ok());
    for (const int far : {600'000'000, 2'000'000'000, -2'000'000'000}) {
      INFO(apart << " apart, from " << far);
      first_query() = far + apart, first_key() = far;
      REQUIRE(call<specs::far_positions>(Q, K, V, first_query, first_key, O).ok());
      CHECK(same_bits(O, near));
    }
  }
}

TEST_CASE("a row with nothing left gives 0") {
  for (const options &how : places()) {
    INFO("on device " << static_cast<int>(how.on));
    query Q({3, 40});
    key K({3, 70});
    value_ V({3, 70});
    tensor<i32, specs::batch> len({3});
    len(0) = 0, len(1) = 70, len(2) = 1;
    randomize(Q, 1), randomize(K, 2), randomize(V, 3);
    result O({3, 40});
    O.fill(7);
    REQUIRE(call<specs::padding>(how, Q, K, V, len, O).ok());
    for (int h = 0; h < 3; ++h)
      for (int i = 0; i < 40; ++i)
        for (int d = 0; d < 64; ++d) {
          REQUIRE(O(0, h, i, d) == 0.f);
          REQUIRE(is_value(O(2, h, i, d), V(2, h, 0, d), how));  // one key left has weight 1
        }
  }
}

TEST_CASE("weights are 0 or far from denormal") {
  for (const std::int64_t rows : {1, 6, 40, 100}) {
    query Q({1, rows});
    key K({1, 64});
    value_ V({1, 64});
    result O({1, rows});
    Q.fill(0), K.fill(0), V.fill(0);
    for (int h = 0; h < 3; ++h) {
      for (int i = 0; i < rows; ++i) Q(0, h, i, 0) = std::sqrt(32.f);
      for (int j = 0; j < 64; ++j) K(0, h, j, 0) = static_cast<float>(-2 * j), V(0, h, j, j) = 1;
    }
    REQUIRE(call<specs::full>(Q, K, V, O).ok());
    for (int h = 0; h < 3; ++h)
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < 64; ++j) {  // the weight of key j, exp(-2 j) / 1.16
          const double weight = O(0, h, i, j), expected = std::exp(-2. * j) * (1 - std::exp(-2.));
          INFO(rows << " rows, row " << i << ", key " << j << ": " << weight);
          REQUIRE((weight == 0 || weight >= 0x1p-101));
          REQUIRE(std::fabs(weight - expected) <= 1e-5 * expected + 0x1p-99);
        }
  }
}

TEST_CASE("an additive mask of -inf removes keys, and rows") {
  for (const options &how : places()) {
    INFO("on device " << static_cast<int>(how.on));
    query Q({1, 33});
    key K({1, 20});
    value_ V({1, 20});
    tensor<specs::heads, specs::seq, specs::mem> bias({33, 20});
    randomize(Q, 1), randomize(K, 2), randomize(V, 3);
    for (int i = 0; i < 33; ++i)
      for (int j = 0; j < 20; ++j) bias(1, i, j) = i == 5 || j != 3 ? -infinity : 0;
    result O({1, 33});
    REQUIRE(call<specs::biased>(how, Q, K, V, bias, O).ok());
    for (int d = 0; d < 64; ++d) {
      REQUIRE(is_value(O(0, 1, 4, d), V(0, 1, 3, d), how));
      REQUIRE(O(0, 1, 5, d) == 0.f);
    }
  }
}

TEST_CASE("scores of any finite size stay finite") {
  for (const options &how : places()) {
    INFO("on device " << static_cast<int>(how.on));
    for (float scale : {100.f, 3e18f}) {  // scores of about 1e4, and of about 3e38
      tensor<specs::batch, specs::seq, specs::odd_k> Q({1, 5});
      tensor<specs::batch, specs::mem, specs::odd_k> K({1, 9});
      tensor<specs::batch, specs::mem, specs::odd_v> V({1, 9});
      tensor<specs::batch, specs::seq, specs::odd_v> O({1, 5});
      for (int i = 0; i < 5; ++i) Q(0, i, i) = scale;
      for (int j = 0; j < 9; ++j)
        for (int d = 0; d < 20; ++d)
          K(0, j, d) = (j == d ? 1.f : -1.f) * scale * (scale > 1e9f ? 30.f : 1.f);
      randomize(V, 3);
      REQUIRE(call<specs::unscaled_odd>(how, Q, K, V, O).ok());
      for (int i = 0; i < 5; ++i)
        for (int d = 0; d < 28; ++d)
          REQUIRE(is_value(O(0, i, d), V(0, i, d), how));  // one key has all the weight
    }
  }
}

// Blocks of keys that end beyond the last one repeat it, with weight 0.
TEST_CASE("an infinity in the last value stays one") {
  for (const options &how : places())
    for (const int n : {1, 9, 33, 64}) {
      INFO("on device " << static_cast<int>(how.on) << ", " << n << " keys");
      tensor<specs::batch, specs::seq, specs::odd_k> Q({1, 5});
      tensor<specs::batch, specs::mem, specs::odd_k> K({1, n});
      tensor<specs::batch, specs::mem, specs::odd_v> V({1, n});
      tensor<specs::batch, specs::seq, specs::odd_v> O({1, 5});
      randomize(Q, 1, 0.1f), randomize(K, 2, 0.1f), randomize(V, 3);
      V(0, n - 1, 0) = infinity, V(0, n - 1, 1) = -infinity;
      REQUIRE(call<specs::unscaled_odd>(how, Q, K, V, O).ok());
      for (int i = 0; i < 5; ++i) {
        CHECK((O(0, i, 0) == infinity && O(0, i, 1) == -infinity));
        for (int d = 2; d < 28; ++d) CHECK(std::isfinite(O(0, i, d)));
      }
    }
}

TEST_CASE("results depend neither on threads nor on batch mates") {
  const int n = 700, batch = 3;
  query Q({batch, n});
  self_key K({batch, n});
  self_value V({batch, n});
  randomize(Q, 1), randomize(K, 2), randomize(V, 3);
  result one({batch, n}), many({batch, n});
  statistic lse({batch, n});
  options single, several;
  single.threads = 1, several.threads = 3;
  REQUIRE(call<specs::causal_self>(single, Q, K, V, one, lse).ok());
  REQUIRE(call<specs::causal_self>(several, Q, K, V, many, lse).ok());
  CHECK(same_bits(one, many));
  for (int b = 0; b < batch; ++b) {
    query q({1, n});
    self_key k({1, n});
    self_value v({1, n});
    result alone({1, n});
    statistic l({1, n});
    std::copy_n(&Q(b, 0, 0, 0), q.elements(), q.begin());
    std::copy_n(&K(b, 0, 0, 0), k.elements(), k.begin());
    std::copy_n(&V(b, 0, 0, 0), v.elements(), v.begin());
    REQUIRE(call<specs::causal_self>(q, k, v, alone, l).ok());
    CHECK(std::memcmp(alone.data(), &one(b, 0, 0, 0),
                      static_cast<std::size_t>(alone.elements()) * sizeof(float)) == 0);
  }
}

TEST_CASE("values without columns leave the logsumexp") {
  for (int m : {0, 1, 5, 200}) {
    tensor<specs::seq, specs::any_k> Q({3, 2});
    tensor<specs::mem, specs::any_k> K({m, 2});
    const tensor<specs::mem, specs::any_v> V({m, 0});
    tensor<specs::seq, specs::any_v> O({3, 0});
    tensor<specs::seq> lse({3});
    REQUIRE(call<specs::widths_and_lse>(Q, K, V, O, lse).ok());
    if (m == 0)
      CHECK(lse(2) == -infinity);
    else
      CHECK(std::fabs(lse(2) - std::log(static_cast<float>(m))) <= 4e-6f);
  }
}

TEST_CASE("words of C may name arguments, also for callers in C") {
  using row = tensor<f32, specs::i>;
  row x({5}), y({5}), z({5}), w({5}), u({5}), t({5}), s({5}), all({5}), a0({5});
  x.fill(7), y.fill(2), z.fill(3), w.fill(1), u.fill(2), t.fill(3), s.fill(4);
  const qkv_tensor a[] = {x.descriptor(), y.descriptor(),   z.descriptor(),
                          w.descriptor(), u.descriptor(),   t.descriptor(),
                          s.descriptor(), all.descriptor(), a0.descriptor()};
  REQUIRE(qkv_words_of_c(&a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &a[6], &a[7], &a[8]) == 0);
  CHECK(all(4) == 1);
  CHECK(a0(4) == 3);
}

TEST_CASE("the memory of an attention does not grow with the keys") {
  const auto bytes = [](int n, int m) {
    query Q({1, n});
    key K({1, m});
    value_ V({1, m});
    result O({1, n});
    const qkv_kernel *table = kernels("full").at(0);
    const qkv_tensor all[] = {Q.descriptor(), K.descriptor(), V.descriptor(), O.descriptor()};
    options how;
    how.threads = 1;
    std::size_t size = 0;
    REQUIRE(workspace_bytes(*table, all, size, how).ok());
    return size;
  };
  const std::size_t few = bytes(256, 128), many = bytes(256, 8192), longer = bytes(2048, 8192);
  INFO(few << " bytes for 128 keys, " << many << " for 8192");
  CHECK(many <= few + 4096);
  CHECK(longer <= 8 * many + 4096);
  CHECK(longer <
        std::size_t{2048} * 8192 * sizeof(float) / 8);  // the scores of one head would be 64 MiB
}
