// SPDX-License-Identifier: BSL-1.0
// Guarded memory detects planted errors: accesses beyond a block, writes around it or after its
// release, reads of uninitialised memory.
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/catch.hpp"
#include "tests/kernels/guarded.hpp"

using namespace qkv::testing;

namespace {

// True if a signal ends a process that runs f.
template <class F>
bool dies(F f) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (int s : {SIGSEGV, SIGBUS}) ::signal(s, SIG_DFL);
    f();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status);
}

void read(const volatile unsigned char *p) { (void)*p; }
void write(volatile unsigned char *p) { *p = 1; }

struct taken {
  taken(guard where, std::size_t n)
      : memory(guarded_memory_of(where)),
        bytes(n),
        begin(static_cast<unsigned char *>(memory.take(n))) {
    REQUIRE(begin);
  }
  ~taken() {
    if (begin) memory.give_back(begin);
  }
  std::string damage_after_giving_back() {
    memory.give_back(begin);
    begin = nullptr;
    return memory.damage();
  }
  guarded_memory &memory;
  std::size_t bytes;
  unsigned char *begin;
};

template <class T>
T as(const unsigned char *p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

}  // namespace

TEST_CASE("one byte beyond a guarded block is one too many") {
  for (std::size_t bytes : {0, 64, 4096, 4160, 100032}) {
    INFO(bytes);
    {
      const taken t(guard::after, bytes);
      CHECK(reinterpret_cast<std::uintptr_t>(t.begin) % vector_alignment() == 0);
      CHECK(dies([&] { read(t.begin + bytes); }));
      CHECK(dies([&] { write(t.begin + bytes); }));
      if (bytes > 0) CHECK_FALSE(dies([&] { write(t.begin + bytes - 1), read(t.begin); }));
    }
    const taken t(guard::before, bytes);
    CHECK(dies([&] { read(t.begin - 1); }));
    CHECK(dies([&] { write(t.begin - 1); }));
    if (bytes > 0) CHECK_FALSE(dies([&] { write(t.begin), write(t.begin + bytes - 1); }));
  }
}

TEST_CASE("a tensor ends at the page to the byte, whatever its size") {
  std::mt19937 random(1);
  for (std::int64_t n : {1, 3, 17, 1025}) {
    const guarded t(qkv::f32, {n}, layout::dense, guard::after, random);
    auto *begin = static_cast<unsigned char *>(t.descriptor().data);
    CHECK(dies([&] { read(begin + 4 * n); }));
    CHECK_FALSE(dies([&] { read(begin + 4 * n - 1); }));
    CHECK(t.untouched_between());
    begin[-1] = 0;  // writes on the other side are detected
    CHECK_FALSE(t.untouched_between());
  }
}

TEST_CASE(
    "writes into the gap that the alignment leaves, and on the other side of a block, are found") {
  for (std::size_t bytes : {1, 31, 40, 4090, 5000}) {
    INFO(bytes);
    for (guard where : {guard::after, guard::before}) {
      taken clean(where, bytes);
      std::memset(clean.begin, 0, bytes);
      CHECK(clean.damage_after_giving_back() == "");
    }
    taken behind(guard::after, bytes);
    behind.begin[bytes] = 0;
    CHECK(behind.damage_after_giving_back() ==
          "something was written right before or in the gap behind a block of " +
              std::to_string(bytes) + " bytes");
    taken before(guard::after, bytes);
    if (bytes % 4096 < 4000) {
      before.begin[-1] = 0;
      CHECK(before.damage_after_giving_back() != "");
    }
    taken after(guard::before, bytes);
    after.begin[bytes] = 0;
    CHECK(after.damage_after_giving_back() ==
          "something was written right behind a block of " + std::to_string(bytes) + " bytes");
  }
}

TEST_CASE("a write after free is found by the next block in that place") {
  for (guard where : {guard::after, guard::before}) {
    unsigned char *old = nullptr;
    {
      taken t(where, 777);
      old = t.begin;
    }
    CHECK(guarded_memory_of(where).damage() == "");
    *old = 5;
    const taken again(where, 777);
    CHECK(guarded_memory_of(where).damage() ==
          "a block of 777 bytes was written to after it had been freed");
  }
}

TEST_CASE("what nobody wrote, or what was freed, is NaN or a large number") {
  for (int turn = 0; turn < 2; ++turn) {
    taken end(guard::after, 64), begin(guard::before, 64);
    CHECK(std::isnan(as<float>(end.begin + 4)));
    CHECK(std::isnan(as<double>(end.begin + 8)));
    CHECK(as<std::int32_t>(end.begin) > 2'000'000'000);
    CHECK(as<float>(begin.begin + 4) > 1e38f);
    CHECK(as<double>(begin.begin + 8) > 1e300);
    CHECK(as<std::int32_t>(begin.begin) > 2'000'000'000);
    for (taken *t : {&end, &begin}) std::memset(t->begin, 0, 64);
  }
}

TEST_CASE("a guarded workspace takes every block from guarded memory") {
  for (guard where : {guard::after, guard::before}) {
    qkv::workspace &w = guarded_workspace(where);
    const std::size_t before = guarded_memory_of(where).blocks_taken();
    void *p = w.take(100);
    REQUIRE(p);
    CHECK(w.in_use() > 100);
    w.give_back(p);
    CHECK(w.in_use() == 0);
    CHECK(guarded_memory_of(where).blocks_taken() == before + 1);
    CHECK(w.take(~std::size_t{0} - 1000) == nullptr);
    CHECK(w.take(~std::size_t{0} / 4) == nullptr);
    CHECK(guarded_memory_of(where).damage() == "");
  }
}
