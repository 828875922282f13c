// A cache that several machines share gives the results of one cache.
#include <cmath>
#include <qkv/ring_cache.hpp>
#include <random>

#include "tests/catch.hpp"
#include "tests/ring/distributed.hpp"
#include "tests/ring/ring_specs.hpp"
#include "tests/support/random.hpp"

using namespace qkv::testing;
using namespace ring_kernels;
using qkv::extent;
using qkv::extents;
using qkv::status;

namespace {

using stored_keys = qkv::tensor<batch, heads, slots, d>;
using stored_values = qkv::tensor<batch, heads, slots, e>;
using new_keys = qkv::tensor<batch, heads, seq, d>;
using new_values = qkv::tensor<batch, heads, seq, e>;
using shared_cache = qkv::ring::kv_cache<batch, slots, stored_keys, stored_values>;
using one_cache = qkv::kv_cache<batch, slots, stored_keys, stored_values>;

template <class Tensor>
Tensor drawn(std::int64_t entries, std::int64_t n, std::uint64_t seed) {
  Tensor t({entries, n});
  std::mt19937_64 bits(seed);
  std::normal_distribution<float> normal;
  for (float &x : t) x = normal(bits);
  return t;
}

// Appends some positions, attends with some queries, and so on; the results of each call.
using results = std::vector<new_values>;
template <class Append, class Attend>
results conversation(const Append &append, const Attend &attend, std::uint64_t seed) {
  results all;
  std::mt19937_64 draw(seed);
  for (int turn = 0; turn < 6; ++turn) {
    const auto n = static_cast<std::int64_t>(1 + draw() % 40),
               queries = static_cast<std::int64_t>(1 + draw() % static_cast<unsigned>(n));
    append(drawn<new_keys>(2, n, seed + 10), drawn<new_values>(2, n, seed + 20));
    new_values O({2, queries});
    attend(drawn<new_keys>(2, queries, seed + 30), O);
    all.push_back(O);
  }
  return all;
}

}  // namespace

TEST_CASE("a cache of several machines gives the results of one") {
  const std::uint64_t seed = seed_or(4);
  const extents sizes{extent<batch>(2), extent<slots>(260)};
  one_cache alone(sizes);
  const results expected = conversation(
      [&](const new_keys &k, const new_values &v) { REQUIRE(alone.append(k, v).ok()); },
      [&](const new_keys &q, new_values &o) {
        REQUIRE(qkv::call<decode_far>(q, alone.keys(), alone.values(), alone.lengths(), o).ok());
      },
      seed);
  for (const int machines : {1, 2, 3, 5})
    for (const std::int64_t block : {1, 16, 300}) {
      INFO(machines << " machines, blocks of " << block);
      qkv::ring::loopback all(machines);
      std::vector<results> found(static_cast<std::size_t>(machines));
      for (const status &s : on_machines(machines, [&](int m) -> status {
             qkv::ring::transport &link = all.machine(m);
             shared_cache cache(link, sizes, block);
             status worst;
             found[static_cast<std::size_t>(m)] = conversation(
                 [&](const new_keys &k, const new_values &v) {
                   if (status s = cache.append(k, v); !s) worst = s;
                 },
                 [&](const new_keys &q, new_values &o) {
                   if (status s = qkv::ring::decode<decode_far>(link, cache, q, o); !s) worst = s;
                 },
                 seed);
             return worst;
           })) {
        INFO(s.text());
        REQUIRE(s.ok());
      }
      for (const results &of_one : found)
        for (std::size_t turn = 0; turn < expected.size(); ++turn)
          for (std::int64_t k = 0; k < expected[turn].elements(); ++k) {
            const float a = expected[turn].data()[k], b = of_one[turn].data()[k];
            if (!(std::fabs(a - b) < 2e-6f)) FAIL("turn " << turn << ": " << a << ", not " << b);
            if (b != found[0][turn].data()[k]) FAIL("machines have different bits");
          }
    }
}

TEST_CASE("a cache of several machines refuses what does not fit") {
  qkv::ring::loopback all(2);
  const extents sizes{extent<batch>(2), extent<slots>(10)};
  shared_cache cache(all.machine(0), sizes, 4);
  CHECK(cache.keys().extent(2) == 6);  // slots 0 to 3, 8 and 9
  CHECK(cache.capacity() == 10);
  REQUIRE(cache.append(drawn<new_keys>(2, 7, 1), drawn<new_values>(2, 7, 2)).ok());
  CHECK(cache.append(drawn<new_keys>(2, 4, 1), drawn<new_values>(2, 4, 2)).code() ==
        qkv::status_code::cache_full);
  CHECK(cache.lengths()(1) == 7);
  REQUIRE(cache.truncate(1, 3).ok());
  CHECK(cache.lengths()(1) == 3);
  CHECK(!cache.truncate(1, 4).ok());
}
