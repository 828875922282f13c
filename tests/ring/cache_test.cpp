// SPDX-License-Identifier: BSL-1.0
// A cache that several machines share gives the results of one cache.
#include <cmath>
#include <functional>
#include <limits>
#include <qkv/ring_paged_cache.hpp>
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
using shared_pages =
    qkv::ring::paged_kv_cache<batch, pages, blocks, slot, qkv::tensor<pages, heads, slot, d>,
                              qkv::tensor<pages, heads, slot, e>>;
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

namespace {

// The conversation of one machine with a cache of its own; what went wrong is in the status.
using talk = std::function<results(qkv::ring::transport &, std::int64_t block, status &)>;

// Machines with a shared cache have the results of one cache, and the same bits.
void check_shared(const results &expected, const talk &of_machine) {
  for (const int machines : {1, 2, 3, 5})
    for (const std::int64_t block : {1, 16, 300}) {
      INFO(machines << " machines, blocks of " << block);
      qkv::ring::loopback all(machines);
      std::vector<results> found(static_cast<std::size_t>(machines));
      for (const status &s : on_machines(machines, [&](int m) -> status {
             status worst;
             found[static_cast<std::size_t>(m)] = of_machine(all.machine(m), block, worst);
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

results of_one_cache(std::uint64_t seed) {
  one_cache alone(extents{extent<batch>(2), extent<slots>(260)});
  return conversation(
      [&](const new_keys &k, const new_values &v) { REQUIRE(alone.append(k, v).ok()); },
      [&](const new_keys &q, new_values &o) {
        REQUIRE(qkv::call<decode_far>(q, alone.keys(), alone.values(), alone.lengths(), o).ok());
      },
      seed);
}

// Appends to a cache of several machines, and attends to all of it.
template <auto Kernel, class Cache>
results shared_conversation(qkv::ring::transport &link, Cache &cache, std::uint64_t seed,
                            status &worst) {
  return conversation(
      [&](const new_keys &k, const new_values &v) {
        if (status s = cache.append(k, v); !s) worst = s;
      },
      [&](const new_keys &q, new_values &o) {
        if (status s = qkv::ring::decode<Kernel>(link, cache, q, o); !s) worst = s;
      },
      seed);
}

}  // namespace

TEST_CASE("a cache of several machines gives the results of one") {
  const std::uint64_t seed = seed_or(4);
  check_shared(of_one_cache(seed), [&](qkv::ring::transport &link, std::int64_t block, status &s) {
    shared_cache cache(link, extents{extent<batch>(2), extent<slots>(260)}, block);
    return shared_conversation<decode_far>(link, cache, seed, s);
  });
}

TEST_CASE("pages of several machines give the results of one cache") {
  const std::uint64_t seed = seed_or(4);
  check_shared(of_one_cache(seed), [&](qkv::ring::transport &link, std::int64_t block, status &s) {
    shared_pages cache(link, extents{extent<batch>(2), extent<pages>(130), extent<blocks>(65)},
                       block);
    return shared_conversation<decode_pages>(link, cache, seed, s);
  });
}

TEST_CASE("pages of several machines are taken and given back alike") {
  qkv::ring::loopback all(2);
  const extents sizes{extent<batch>(2), extent<pages>(4), extent<blocks>(10)};
  std::vector<shared_pages> caches;
  for (int m : {0, 1}) caches.emplace_back(all.machine(m), sizes, 4);
  const auto append = [&](std::int64_t n) {
    std::vector<status> found;
    for (shared_pages &c : caches)
      found.push_back(c.append(drawn<new_keys>(2, n, 1), drawn<new_values>(2, n, 2)));
    CHECK(found[0].text() == std::string(found[1].text()));
    return found[0];
  };
  CHECK(caches[0].capacity() == 40);
  CHECK(caches[1].table().extent(1) == 5);
  REQUIRE(append(9).ok());  // blocks 0 to 2 of both: two on machine 0, one on machine 1
  CHECK(caches[0].free_pages() == 0);
  CHECK(caches[1].free_pages() == 2);
  REQUIRE(append(7).ok());
  CHECK(append(1).code() == qkv::status_code::cache_full);  // a fifth block, on machine 0
  CHECK(caches[1].lengths()(1) == 16);
  for (shared_pages &c : caches) REQUIRE(c.truncate(0, 5).ok());
  CHECK(caches[0].free_pages() == 1);
  CHECK(caches[1].free_pages() == 1);
  for (shared_pages &c : caches) c.clear();
  REQUIRE(append(16).ok());
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
  // Blocks are not longer than the cache.
  constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t block : {std::int64_t{1} << 62, endless}) {
    CHECK(shared_cache(all.machine(0), sizes, block).keys().extent(2) == 10);
    CHECK(shared_cache(all.machine(1), sizes, block).keys().extent(2) == 0);
    CHECK(shared_pages(all.machine(1),
                       extents{extent<batch>(2), extent<pages>(4), extent<blocks>(10)}, block)
              .table()
              .extent(1) == 0);
    CHECK(qkv::ring::block_cyclic(4, 10, 10, block).n_keys(0) == 10);
  }
  for (const int none : {0, -2}) {
    CHECK(qkv::ring::block_cyclic(none, 3, 5, 4).machines() == 0);
    CHECK(qkv::ring::stripes(none, 3, 5, 4).machines() == 0);
    CHECK(qkv::ring::by_cost(none, 10, 10, std::vector<double>{1}).machines() == 0);
  }
}
