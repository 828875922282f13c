// SPDX-License-Identifier: BSL-1.0
// Caches called wrongly: a status, no crash, and every entry holds what it held.
#include <qkv/dsl.hpp>
#include <qkv/paged_kv_cache.hpp>

#include <limits>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace {

using namespace qkv;

constexpr batch_axis<"batch"> batch;
constexpr axis<"seq"> seq;
constexpr axis<"slots"> slots;
constexpr axis<"pages"> pages;
constexpr axis<"blocks"> blocks;
constexpr axis<"slot", 4> slot;
constexpr axis<"d", 3> d;

using stored = tensor<batch, slots, d>;
using contiguous = kv_cache<batch, slots, stored, stored>;
using page = tensor<pages, slot, d>;
using paged = paged_kv_cache<batch, pages, blocks, slot, page, page>;
using rows = tensor<batch, seq, d>;
using view = const_tensor_view<f32, batch, seq, d>;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

contiguous small(std::int64_t entries, std::int64_t positions) {
  return contiguous(extents(extent<batch>(entries), extent<slots>(positions)));
}
paged small_pages(std::int64_t entries, std::int64_t n, std::int64_t of_entry) {
  return paged(extents(extent<batch>(entries), extent<pages>(n), extent<blocks>(of_entry)));
}

TEST_CASE("a cache that was moved from holds nothing") {
  contiguous a = small(2, 4);
  const contiguous b = std::move(a);
  CHECK(a.append(rows({2, 1}), rows({2, 1})).code() == status_code::out_of_memory);
  CHECK(a.truncate(0, 0).code() == status_code::out_of_memory);
  contiguous c = small(2, 0);
  const contiguous e = std::move(c);
  CHECK(c.append(rows({2, 0}), rows({2, 0})).code() == status_code::out_of_memory);
  paged p = small_pages(2, 4, 2);
  const paged q = std::move(p);
  CHECK(p.append(rows({2, 1}), rows({2, 1})).code() == status_code::out_of_memory);
  CHECK(p.truncate(0, 0).code() == status_code::out_of_memory);
}

TEST_CASE("sizes of a cache that cannot be") {
  CHECK(small(-1, 4).append(rows({-1, 0}), rows({-1, 0})).code() == status_code::wrong_extent);
  CHECK(small(2, -4).append(rows({2, 0}), rows({2, 0})).code() == status_code::wrong_extent);
  CHECK(small(0, 4).append(rows({0, -1}), rows({0, -1})).code() == status_code::wrong_extent);
  CHECK(small_pages(0, 4, 2).append(rows({0, -1}), rows({0, -1})).code() ==
        status_code::wrong_extent);
  CHECK(small_pages(2, 4, -2).append(rows({2, 1}), rows({2, 1})).code() == status_code::cache_full);
}

TEST_CASE("errors name the axis") {
  contiguous c = small(2, 4);
  CHECK(c.append(rows({2, 1}), rows({2, 2})).text() ==
        std::string("kv_cache: axis seq of the new values is 2 but must be 1"));
  paged p = small_pages(2, 4, 2);
  CHECK(p.append(rows({1, 1}), rows({2, 1})).text() ==
        std::string("paged_kv_cache: axis batch of the new keys is 1 but must be 2"));
}

TEST_CASE("a cache that takes the place of itself keeps what it holds") {
  paged p = small_pages(2, 4, 2);
  REQUIRE(p.append(rows({2, 1}), rows({2, 1})).ok());
  paged &same = p;
  p = std::move(same);
  CHECK(p.free_pages() == 2);
  CHECK(p.lengths()(1) == 1);
  REQUIRE(p.append(rows({2, 4}), rows({2, 4})).ok());
  const paged copy = p;
  p.clear();
  CHECK(p.free_pages() == 4);
  CHECK(copy.free_pages() == 0);
}

TEST_CASE("a contiguous cache that takes the place of itself keeps what it holds") {
  contiguous c = small(1, 4);
  rows r({1, 2});
  r.fill(5);
  REQUIRE(c.append(r, r).ok());
  contiguous &same = c;
  c = std::move(same);
  CHECK(c.lengths()(0) == 2);
  CHECK(c.keys()(0, 1, 2) == 5);
  CHECK(c.append(r, r).ok());
  CHECK(c.append(r, r).code() == status_code::cache_full);
}

TEST_CASE("counts as a list") {
  contiguous c = small(2, 4);
  REQUIRE(c.append(rows({2, 2}), rows({2, 2}), {1, 2}).ok());
  CHECK(c.lengths()(0) == 1);
  CHECK(c.lengths()(1) == 2);
  CHECK(c.append(rows({2, 2}), rows({2, 2}), {1}).text() ==
        std::string("kv_cache: 1 counts given for 2 entries"));
  CHECK(c.append(rows({2, 2}), rows({2, 2}), {0, 3}).text() ==
        std::string("kv_cache: entry 1 is to take 3 of 2 new positions"));
  paged p = small_pages(2, 4, 2);
  REQUIRE(p.append(rows({2, 4}), rows({2, 4}), {4, 0}).ok());
  CHECK(p.free_pages() == 3);
}

TEST_CASE("more rows than a length can count") {
  const float one[3] = {1, 2, 3};
  for (std::int64_t n : {std::int64_t{1} << 31, (std::int64_t{1} << 32) + 1, most}) {
    const view many(one, {1, n, 3}, {0, 0, 1});
    contiguous c = small(1, 4);
    CHECK(c.append(many, many).code() == status_code::cache_full);
    CHECK(c.lengths()(0) == 0);
    paged p = small_pages(1, 4, 2);
    CHECK(p.append(many, many).code() == status_code::cache_full);
    CHECK(p.free_pages() == 4);
  }
}

TEST_CASE("rows that end beyond the address space, or run backwards") {
  const std::vector<float> memory(64);
  contiguous c = small(1, 8);
  const view beyond(memory.data(), {1, 3, 3}, {0, most / 2 + 1, 1}),
      backwards(memory.data() + 32, {1, 3, 3}, {0, -3, 1});
  CHECK(c.append(beyond, beyond).code() == status_code::too_large);
  CHECK(c.append(backwards, backwards).code() == status_code::wrong_stride);
  CHECK(c.lengths()(0) == 0);
}

TEST_CASE("rows and counts that lie in the cache itself") {
  contiguous c = small(1, 8);
  rows r({1, 4});
  r.fill(1);
  REQUIRE(c.append(r, r).ok());
  REQUIRE(c.truncate(0, 2).ok());
  const view own(c.keys().data() + 3, {1, 2, 3}, {24, 3, 1});
  CHECK(c.append(r, own).code() == status_code::wrong_extent);
  CHECK(c.append(own, own).code() == status_code::overlap);
  CHECK(c.append(r, r, c.lengths()).code() == status_code::overlap);
  CHECK(c.append(r, r, std::span<const std::int32_t>(static_cast<std::int32_t *>(nullptr), 1))
            .code() == status_code::null_data);
  CHECK(c.lengths()(0) == 2);
}

}  // namespace
