// SPDX-License-Identifier: BSL-1.0
// Memory is aligned, comes back, is used again, and runs out with a status instead of a crash.
#include <qkv/workspace.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

TEST_CASE("blocks are aligned and readable around their ends") {
  qkv::workspace w;
  for (std::size_t bytes : {0, 1, 63, 64, 65, 100000}) {
    auto *p = static_cast<char *>(w.take(bytes));
    REQUIRE(p);
    CHECK(reinterpret_cast<std::uintptr_t>(p) % 64 == 0);
    std::memset(p, 1, bytes + 64);
    volatile char before = p[-64];
    (void)before;
    w.give_back(p);
  }
  CHECK(w.in_use() == 0);
  CHECK(w.peak() >= 100000);
}

TEST_CASE("memory that was given back is used again") {
  qkv::workspace w;
  void *p = w.take(5000);
  w.give_back(p);
  CHECK(w.take(5000) == p);
  void *q = w.take(5000);
  CHECK(q != p);
  w.give_back(p);
  w.give_back(q);
  w.trim();
  CHECK(w.in_use() == 0);
}

TEST_CASE("memory of any size is used again, however much is kept") {
  qkv::workspace w;
  std::mt19937 bits(1);
  std::vector<std::size_t> sizes;
  for (int k = 0; k < 20000; ++k) sizes.push_back(bits() % 20000);
  std::vector<void *> first;
  for (const std::size_t n : sizes) first.push_back(w.take(n));
  for (void *p : first) w.give_back(p);
  std::sort(first.begin(), first.end());
  std::size_t again = 0;
  for (const std::size_t n : sizes) {
    void *p = w.take(n);
    again += std::binary_search(first.begin(), first.end(), p);
    w.give_back(p);
  }
  CHECK(again == sizes.size());
  CHECK(w.in_use() == 0);
}

TEST_CASE("a limit") {
  qkv::workspace w(std::size_t{10000});
  void *p = w.take(6000);
  REQUIRE(p);
  CHECK(w.take(6000) == nullptr);
  w.give_back(p);
  p = w.take(9000);
  CHECK(p);
  w.give_back(p);
  CHECK(w.take(~std::size_t{0}) == nullptr);
  CHECK(w.take(~std::size_t{0} / 2) == nullptr);
  CHECK(w.take(~std::size_t{0} - 1000) == nullptr);
  p = w.take(9800);  // exactly, where a larger block would be beyond the limit
  CHECK(p);
  w.give_back(p);
}

TEST_CASE("the caller's memory") {
  std::vector<char> memory(20000);
  qkv::workspace w(memory.data() + 1, memory.size() - 1);
  std::mt19937 random(1);
  std::vector<std::pair<char *, std::size_t>> blocks;
  for (int i = 0; i < 2000; ++i) {
    if (blocks.size() < 12 && random() % 2) {
      const std::size_t bytes = random() % 2500;
      auto *p = static_cast<char *>(w.take(bytes));
      if (!p) continue;
      REQUIRE(p >= memory.data());
      REQUIRE(p + bytes <= memory.data() + memory.size());
      std::memset(p, static_cast<int>(bytes), bytes);
      blocks.push_back({p, bytes});
    } else if (!blocks.empty()) {
      const std::size_t which = random() % blocks.size();
      const auto [p, bytes] = blocks[which];
      REQUIRE(std::all_of(p, p + bytes, [n = bytes](char c) { return c == static_cast<char>(n); }));
      w.give_back(p);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  for (auto [p, bytes] : blocks) w.give_back(p);
  CHECK(w.in_use() == 0);
  CHECK(w.take(19000) != nullptr);  // all gaps were joined
}

TEST_CASE("no memory at all") {
  qkv::workspace none(nullptr, 1000);
  CHECK(none.take(1) == nullptr);
  char small[100];
  qkv::workspace little(small, sizeof small);
  CHECK(little.take(1) == nullptr);
  none.give_back(nullptr);
}

TEST_CASE("several threads") {
  qkv::workspace w;
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t) {
    all.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        void *p = w.take(1000);
        std::memset(p, i, 1000);
        w.give_back(p);
      }
    });
  }
  for (auto &t : all) t.join();
  CHECK(w.in_use() == 0);
}
