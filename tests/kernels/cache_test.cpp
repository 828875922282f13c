// SPDX-License-Identifier: BSL-1.0
// Caches of keys and values: decoding step by step gives what one causal call gives; what does not
// fit changes nothing.
#include <qkv/paged_kv_cache.hpp>

#include <cmath>
#include <random>

#include "tests/catch.hpp"
#include "tests/kernels/specs.hpp"
#include "tests/support/larger_of.hpp"

namespace {

using namespace qkv;
using namespace specs;
using qkv::testing::larger_of;

using queries = tensor<batch, heads, seq, d_k>;
using new_keys = tensor<batch, heads, seq, d_k>;
using new_values = tensor<batch, heads, seq, d_v>;
using results = tensor<batch, heads, seq, d_v>;
using contiguous =
    kv_cache<batch, slots, tensor<batch, heads, slots, d_k>, tensor<batch, heads, slots, d_v>>;
using paged = paged_kv_cache<batch, pages, blocks, slot, tensor<pages, heads, slot, d_k>,
                             tensor<pages, heads, slot, d_v>>;

template <class T>
T random_tensor(const auto &sizes, unsigned seed) {
  T t(sizes);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (auto &x : t) x = normal(random);
  return t;
}

// A whole sequence, and what causal attention makes of it.
struct sequence {
  explicit sequence(int n_) : n(n_) {
    tensor<batch, heads, seq> lse(sizes);
    REQUIRE(call<causal_self>(Q, view_as<batch, heads, kv, d_k>(K),
                              view_as<batch, heads, kv, d_v>(V), O, lse)
                .ok());
  }
  int n;
  extents<decltype(extent<batch>(2)), decltype(extent<seq>(1))> sizes{extent<batch>(2),
                                                                      extent<seq>(n)};
  queries Q = random_tensor<queries>(sizes, 1);
  new_keys K = random_tensor<new_keys>(sizes, 2);
  new_values V = random_tensor<new_values>(sizes, 3);
  results O{sizes};

  // Positions first .. first + n of a tensor of the sequence, in place.
  template <class T>
  static auto part(T &t, int first, int n) {
    const qkv_tensor d = t.descriptor();
    return const_tensor_view<T::type, batch, heads, seq, typename_last<T>()>(
        t.data() + first * d.stride[2], {2, n}, {d.stride[0], d.stride[1], d.stride[2], 1});
  }
  template <class T>
  static constexpr auto typename_last() {
    if constexpr (T::shape[3]->size == 32) {
      return d_k;
    } else {
      return d_v;
    }
  }
};

// Feeds the sequence in steps of these sizes; take(batch, head, position, feature, number) gets
// every result.
template <auto Kernel, class Cache, class Take>
void decode_all(sequence &s, Cache &cache, const std::vector<int> &steps, Take take) {
  int first = 0;
  for (std::size_t k = 0; first < s.n; ++k) {
    const int n = std::min(steps[k % steps.size()], s.n - first);
    results O(extents(extent<batch>(2), extent<seq>(n)));
    const status done = cache.template attend<Kernel>(s.part(s.K, first, n), s.part(s.V, first, n),
                                                      s.part(s.Q, first, n), O);
    INFO(done.text());
    REQUIRE(done.ok());
    for (int b = 0; b < 2; ++b)
      for (int h = 0; h < 3; ++h)
        for (int i = 0; i < n; ++i)
          for (int d = 0; d < 64; ++d) take(b, h, first + i, d, O(b, h, i, d));
    first += n;
  }
}

// The largest difference from the causal result.
template <auto Kernel, class Cache>
float decoded_difference(sequence &s, Cache &cache, const std::vector<int> &steps) {
  float worst = 0;
  decode_all<Kernel>(s, cache, steps, [&](int b, int h, int i, int d, float x) {
    worst = larger_of(worst, x - s.O(b, h, i, d));
  });
  return worst;
}

// Feeds a sequence of 40 positions to two entries that take different numbers of them; the largest
// difference from the causal result, and of what stands behind the real positions from 0.
template <auto Kernel, class Cache>
float ragged_difference(sequence &s, Cache &cache) {
  // per step: how many positions each entry takes
  const std::int32_t steps[][2] = {{9, 2}, {0, 3}, {1, 1}, {17, 12}, {0, 0}, {13, 22}};
  std::int32_t at[2] = {0, 0};
  float worst = 0;
  for (const auto &count : steps) {
    const int n = std::max({count[0], count[1], 1});
    const extents sizes(extent<batch>(2), extent<seq>(n));
    queries Q(sizes);
    new_keys K(sizes);
    new_values V(sizes);
    results O(sizes);
    // rows that are not real are NaN, and must not matter
    Q.fill(NAN), K.fill(NAN), V.fill(NAN), O.fill(NAN);
    for (int b = 0; b < 2; ++b)
      for (int h = 0; h < 3; ++h)
        for (int i = 0; i < count[b]; ++i) {
          for (int d = 0; d < 32; ++d) Q(b, h, i, d) = s.Q(b, h, at[b] + i, d);
          for (int d = 0; d < 32; ++d) K(b, h, i, d) = s.K(b, h, at[b] + i, d);
          for (int d = 0; d < 64; ++d) V(b, h, i, d) = s.V(b, h, at[b] + i, d);
        }
    const status done = cache.template attend<Kernel>(K, V, count, Q, O);
    INFO(done.text());
    REQUIRE(done.ok());
    for (int b = 0; b < 2; ++b)
      for (int h = 0; h < 3; ++h)
        for (int i = 0; i < n; ++i)
          for (int d = 0; d < 64; ++d)
            worst = larger_of(
                worst, i < count[b] ? O(b, h, i, d) - s.O(b, h, at[b] + i, d) : O(b, h, i, d));
    at[0] += count[0], at[1] += count[1];
  }
  CHECK(at[0] == 40);
  CHECK(at[1] == 40);
  return worst;
}

}  // namespace

TEST_CASE("decoding step by step gives the causal result") {
  sequence s(150);
  for (const std::vector<int> &steps : {std::vector{1}, {150}, {7, 1, 40}, {128, 1, 1}}) {
    contiguous c(extents(extent<batch>(2), extent<slots>(150)));
    CHECK(decoded_difference<decode>(s, c, steps) <= 2e-6f);
    CHECK(c.lengths()(1) == 150);
    paged p(extents(extent<batch>(2), extent<pages>(20), extent<blocks>(10)));
    CHECK(decoded_difference<decode_paged>(s, p, steps) <= 2e-6f);
    CHECK(p.free_pages() == 0);
  }
}

// A step of up to 16 rows takes another form of the kernel than a step of more.
TEST_CASE("in what steps of one form a sequence comes does not change a bit") {
  sequence s(150);
  const auto decoded = [&](const std::vector<int> &steps, int capacity) {
    contiguous c(extents(extent<batch>(2), extent<slots>(capacity)));
    results all(s.sizes);
    decode_all<decode>(s, c, steps,
                       [&](int b, int h, int i, int d, float x) { all(b, h, i, d) = x; });
    return all;
  };
  const results at_once = decoded({150}, 150), one_by_one = decoded({1}, 150);
  const auto same = [](const results &a, const results &b) {
    return std::equal(a.begin(), a.end(), b.begin());
  };
  for (int capacity : {150, 400}) {
    CHECK(same(at_once, decoded({150}, capacity)));
    CHECK(same(at_once, decoded({110, 40}, capacity)));
    for (const std::vector<int> &steps : {std::vector{1}, {7, 1, 16}, {16, 2}})
      CHECK(same(one_by_one, decoded(steps, capacity)));
  }
}

TEST_CASE("what does not fit is a status, and the cache is as it was") {
  sequence s(20);
  contiguous c(extents(extent<batch>(2), extent<slots>(25)));
  REQUIRE(c.append(s.K, s.V).ok());
  const status full = c.append(s.part(s.K, 0, 6), s.part(s.V, 0, 6));
  CHECK(full.code() == status_code::cache_full);
  CHECK(full.text() ==
        std::string("kv_cache: entry 0 holds 20 of 25 positions; 6 more do not fit"));
  CHECK(c.lengths()(0) == 20);
  REQUIRE(c.append(s.part(s.K, 0, 5), s.part(s.V, 0, 5)).ok());
  CHECK(c.keys()(1, 2, 24, 3) == s.K(1, 2, 4, 3));
  CHECK(c.keys()(1, 2, 4, 3) == s.K(1, 2, 4, 3));

  new_keys one(extents(extent<batch>(1), extent<seq>(1)));
  new_values two(extents(extent<batch>(2), extent<seq>(2)));
  CHECK(c.append(one, s.V).text() ==
        std::string("kv_cache: axis batch of the new keys is 1 but must be 2"));
  CHECK(c.append(s.K, two).text() ==
        std::string("kv_cache: axis seq of the new values is 2 but must be 20"));
  CHECK(c.truncate(2, 0).text() == std::string("kv_cache: there is no entry 2: it has 2"));
  CHECK(c.truncate(0, 26).code() == status_code::wrong_extent);
  CHECK(c.lengths()(0) == 25);

  // a call that fails takes the new positions back
  REQUIRE(c.truncate(0, 3).ok());
  REQUIRE(c.truncate(1, 3).ok());
  results wrong(extents(extent<batch>(2), extent<seq>(4)));
  CHECK(!c.attend<decode>(s.K, s.V, s.Q, wrong).ok());
  CHECK(c.lengths()(0) == 3);

  paged p(extents(extent<batch>(2), extent<pages>(3), extent<blocks>(2)));
  CHECK(p.append(s.K, s.V).text() == std::string("paged_kv_cache: 4 pages are needed, 3 are free"));
  CHECK(p.free_pages() == 3);
  REQUIRE(p.append(s.part(s.K, 0, 16), s.part(s.V, 0, 16)).ok());
  CHECK(p.free_pages() == 1);
  CHECK(p.append(s.K, s.V).code() == status_code::cache_full);
  REQUIRE(p.truncate(0, 0).ok());
  CHECK(p.free_pages() == 2);
}

TEST_CASE("ragged batches append what is real") {
  sequence s(9);
  contiguous c(extents(extent<batch>(2), extent<slots>(12)));
  const std::int32_t counts[] = {9, 2}, more[] = {0, 3}, too_many[] = {0, 10}, few[] = {1};
  REQUIRE(c.append(s.K, s.V, counts).ok());
  REQUIRE(c.append(s.K, s.V, more).ok());
  CHECK(c.lengths()(0) == 9);
  CHECK(c.lengths()(1) == 5);
  CHECK(c.keys()(1, 0, 2, 7) == s.K(1, 0, 0, 7));
  CHECK(c.append(s.K, s.V, too_many).text() ==
        std::string("kv_cache: entry 1 is to take 10 of 9 new positions"));
  CHECK(c.append(s.K, s.V, few).code() == status_code::wrong_count);
  CHECK(c.lengths()(1) == 5);
}

TEST_CASE("a call that fails gives pages back") {
  sequence s(20);
  paged p(extents(extent<batch>(2), extent<pages>(5), extent<blocks>(2)));
  results wrong(extents(extent<batch>(2), extent<seq>(4)));
  REQUIRE(p.append(s.part(s.K, 0, 10), s.part(s.V, 0, 10)).ok());
  CHECK(p.free_pages() == 3);
  CHECK(p.attend<decode_paged>(s.K, s.V, s.Q, wrong).code() == status_code::wrong_extent);
  CHECK(p.free_pages() == 3);
  CHECK(p.lengths()(0) == 10);
  CHECK(p.lengths()(1) == 10);
  CHECK(decoded_difference<decode_paged>(s, (p.clear(), p), {9, 11}) <= 2e-6f);
  CHECK(p.free_pages() == 1);
}

TEST_CASE("entries of a batch may take different numbers of new positions") {
  sequence s(40);
  contiguous c(extents(extent<batch>(2), extent<slots>(50)));
  CHECK(ragged_difference<decode_ragged>(s, c) <= 2e-6f);
  paged p(extents(extent<batch>(2), extent<pages>(6), extent<blocks>(3)));
  CHECK(ragged_difference<decode_paged_ragged>(s, p) <= 2e-6f);
  // counts in other forms; for another batch nothing is appended
  const std::vector<std::int32_t> none = {0, 0}, three = {0, 0, 0}, empty;
  tensor<i32, batch> as_tensor({2});
  CHECK(c.attend<decode_ragged>(options{}, s.K, s.V, none, s.Q, s.O).ok());
  CHECK(c.attend<decode_ragged>(s.K, s.V, as_tensor, s.Q, s.O).ok());
  CHECK(c.attend<decode_ragged>(s.K, s.V, {0, 0}, s.Q, s.O).ok());
  CHECK(c.attend<decode_ragged>(options{}, s.K, s.V, {0, 0}, s.Q, s.O).ok());
  CHECK(c.attend<decode_ragged>(s.K, s.V, {0}, s.Q, s.O).code() == status_code::wrong_count);
  CHECK(c.append(s.K, s.V, as_tensor).ok());
  CHECK(c.attend<decode_ragged>(s.K, s.V, three, s.Q, s.O).code() == status_code::wrong_count);
  CHECK(c.attend<decode_ragged>(s.K, s.V, empty, s.Q, s.O).text() ==
        std::string("kv_cache: 0 counts given for 2 entries"));
  CHECK(c.lengths()(0) == 40);
}
