// SPDX-License-Identifier: BSL-1.0
// Checks for memory that is used twice, against lists of all element addresses of small random
// tensors.
#include "memory/overlap.hpp"

#include <bitset>
#include <random>

#include "call/check.hpp"
#include "fake.hpp"
#include "tests/catch.hpp"

namespace {

std::mt19937 numbers(5);
int below(int n) { return static_cast<int>(numbers() % static_cast<unsigned>(n)); }

// The block of memory that the random tensors are in; nobody reads or writes it.
alignas(64) char memory[4096];

// A tensor somewhere in the block; most are nested as real ones are.
qkv_tensor random_tensor() {
  constexpr int sizes[] = {4, 2, 8, 1}, types[] = {QKV_F32, QKV_BF16, QKV_F64, QKV_B8};
  const int type = below(4);
  qkv_tensor t{};
  t.dtype = types[type];
  t.rank = 1 + below(3);
  t.data = memory + sizes[type] * below(96 / sizes[type]);
  std::int64_t inside = 1;
  for (int d = t.rank; d-- > 0;) {
    t.extent[d] = below(8) ? 1 + below(4) : 0;
    t.stride[d] = d == t.rank - 1 ? 1 : below(4) ? inside + below(5) : below(7);
    inside = std::max(inside, t.stride[d] * std::max<std::int64_t>(1, t.extent[d]));
  }
  return t;
}

// The bytes of the block that belong to an element, and whether two elements share one.
std::bitset<sizeof memory> bytes_of(const qkv_tensor &t, bool &twice) {
  constexpr int sizes[] = {4, 2, 2, 8, 4, 1};
  std::bitset<sizeof memory> all;
  twice = false;
  std::int64_t e[3] = {1, 1, 1}, s[3] = {0, 0, 0};
  std::copy(t.extent, t.extent + t.rank, e);
  std::copy(t.stride, t.stride + t.rank, s);
  for (std::int64_t i = 0; i < e[0]; ++i)
    for (std::int64_t j = 0; j < e[1]; ++j)
      for (std::int64_t k = 0; k < e[2]; ++k)
        for (int b = 0; b < sizes[t.dtype]; ++b) {
          const std::ptrdiff_t element = (i * s[0] + j * s[1] + k * s[2]) * sizes[t.dtype];
          const auto at =
              static_cast<std::size_t>(static_cast<char *>(t.data) - memory + element + b);
          twice |= all.test(at);
          all.set(at);
        }
  return all;
}

}  // namespace

TEST_CASE("no shared element is missed, and few tensors are refused for nothing") {
  int shared = 0, refused = 0, apart = 0, own = 0, own_refused = 0;
  for (int i = 0; i < 100000; ++i) {
    const qkv_tensor a = random_tensor(), b = random_tensor();
    bool twice_a = false, twice_b = false;
    const auto x = bytes_of(a, twice_a), y = bytes_of(b, twice_b);
    const bool really = (x & y).any();
    const bool says = qkv::detail::overlap(a, b), says_own = qkv::detail::overlaps_itself(a) >= 0;
    if ((really && !says) || (twice_a && !says_own)) FAIL("missed, trial " << i);
    shared += really;
    apart += !really;
    refused += says && !really;
    own += twice_a;
    own_refused += says_own && !twice_a;
  }
  CHECK(shared > 10000);
  CHECK(own > 3000);
  CHECK(refused < apart / 4);
  CHECK(own_refused < 3000);
}

TEST_CASE("memory that touches without overlapping") {
  alignas(64) static float memory[64];
  CHECK(!qkv::detail::overlap(fake::tensor(memory, {4}), fake::tensor(memory + 4, {4})));
  CHECK(!qkv::detail::overlap(fake::tensor(memory + 4, {4}), fake::tensor(memory, {4})));
  CHECK(qkv::detail::overlap(fake::tensor(memory, {4}), fake::tensor(memory + 3, {4})));
  CHECK(!qkv::detail::overlap(fake::tensor(memory, {0, 4}), fake::tensor(memory, {4})));
  qkv_tensor a = fake::tensor(memory, {4, 4}), b = fake::tensor(memory + 4, {4, 4}),
             c = fake::tensor(memory + 8, {3, 8});
  a.stride[0] = b.stride[0] = 12;
  c.stride[0] = 24;
  CHECK(!qkv::detail::overlap(a, b));
  CHECK(!qkv::detail::overlap(b, c));  // a row of c ends where the next row of b begins
  c.extent[1] = 9;
  CHECK(qkv::detail::overlap(b, c));
  c.extent[1] = 4;
  CHECK(!qkv::detail::overlap(a, c));
  CHECK(!qkv::detail::overlap(c, b));
}
