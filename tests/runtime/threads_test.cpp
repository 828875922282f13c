// SPDX-License-Identifier: BSL-1.0
// Every index runs once, whatever the number of threads, from several callers at once and from
// inside a task.
#include "process/threads.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

namespace {

struct counts {
  std::vector<std::atomic<int>> of;
  explicit counts(int n) : of(n) {}
  static void add(void *self, int i) { ++static_cast<counts *>(self)->of[i]; }
  bool all(int times) const {
    for (const auto &c : of)
      if (c != times) return false;
    return true;
  }
};

}  // namespace

TEST_CASE("each index runs once") {
  for (int limit : {1, 2, 3, 8}) {
    for (int n : {0, 1, 2, 7, 1000}) {
      counts c(n);
      qkv::detail::parallel_for(n, limit, counts::add, &c);
      CHECK(c.all(1));
    }
  }
}

TEST_CASE("loops inside loops") {
  struct outer {
    counts inner{64};
    static void run(void *self, int) {
      qkv::detail::parallel_for(64, 4, counts::add, &static_cast<outer *>(self)->inner);
    }
  } o;
  qkv::detail::parallel_for(16, 4, outer::run, &o);
  CHECK(o.inner.all(16));
}

TEST_CASE("loops from several threads at once") {
  counts c(100);
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) qkv::detail::parallel_for(100, 3, counts::add, &c);
    });
  }
  for (auto &t : callers) t.join();
  CHECK(c.all(300));
}

TEST_CASE("the number of threads") {
  qkv::set_threads(3);
  CHECK(qkv::threads() == 3);
  qkv::set_threads(-5);
  CHECK(qkv::threads() >= 1);
  qkv::set_threads(0);
  CHECK(qkv::threads() >= 1);
}
