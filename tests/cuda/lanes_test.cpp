// SPDX-License-Identifier: BSL-1.0
// Cooperation of lanes and warps: shuffles, votes, reductions, divergence, barriers.
#include <numeric>

#include "tests/catch.hpp"
#include "tests/cuda/gpu.hpp"

using namespace cuda_tests;
using words = std::vector<std::uint32_t>;

namespace {

words counted(std::size_t n = 32) {
  words w(n);
  std::iota(w.begin(), w.end(), 0u);
  return w;
}

}  // namespace

TEST_CASE("shuffles: up, down, butterfly, by index, in segments") {
  gpu g;
  const words up = lanes(g, "shfl.sync.up.b32 %r10, %r0, 3, 0, -1;", counted());
  CHECK((up[0] == 0 && up[2] == 2 && up[3] == 0 && up[31] == 28));
  const words down = lanes(g, "shfl.sync.down.b32 %r10, %r0, 3, 31, -1;", counted());
  CHECK((down[0] == 3 && down[28] == 31 && down[29] == 29));
  const words butterfly = lanes(g, "shfl.sync.bfly.b32 %r10, %r0, 5, 31, -1;", counted());
  for (std::uint32_t l = 0; l < 32; ++l) CHECK(butterfly[l] == (l ^ 5));
  const words first = lanes(g, "shfl.sync.idx.b32 %r10, %r0, 7, 31, -1;", counted());
  CHECK(first == words(32, 7));
  // c = 0x181f: segments of 8 lanes
  const words segments = lanes(g, "shfl.sync.idx.b32 %r10, %r0, 2, 0x181f, -1;", counted());
  CHECK((segments[0] == 2 && segments[9] == 10 && segments[31] == 26));
  const words inside =
      lanes(g, "shfl.sync.down.b32 %r1|%p1, %r0, 4, 31, -1; selp.b32 %r10, 1, 0, %p1;", counted());
  CHECK((inside[27] == 1 && inside[28] == 0));
}

TEST_CASE("a sum over a warp by shuffles; a wrong lane in one step gives another number") {
  const auto sum = [](const char *offsets[5]) {
    std::string body;
    for (int n = 0; n < 5; ++n)
      body += std::string("shfl.sync.bfly.b32 %r1, %r0, ") + offsets[n] +
              ", 31, -1; add.u32 %r0, %r0, %r1;\n";
    gpu g;
    return lanes(g, body + "mov.b32 %r10, %r0;", counted());
  };
  const char *right[] = {"16", "8", "4", "2", "1"}, *wrong[] = {"16", "8", "3", "2", "1"};
  CHECK(sum(right) == words(32, 496));
  CHECK(sum(wrong) != words(32, 496));
}

TEST_CASE("votes, masks of lanes, and reductions of a warp") {
  gpu g;
  const char *small = "setp.lt.u32 %p1, %r0, 5;\n";
  CHECK(lanes(g, std::string(small) + "vote.sync.ballot.b32 %r10, %p1, -1;", counted()) ==
        words(32, 31));
  CHECK(lanes(g, std::string(small) + "vote.sync.any.pred %p2, %p1, -1; selp.b32 %r10, 1, 0, %p2;",
              counted()) == words(32, 1));
  CHECK(lanes(g, std::string(small) + "vote.sync.all.pred %p2, %p1, -1; selp.b32 %r10, 1, 0, %p2;",
              counted()) == words(32, 0));
  CHECK(lanes(g, "activemask.b32 %r10;", counted()) == words(32, 0xffffffff));
  CHECK(lanes(g, "mov.u32 %r10, %lanemask_lt;", counted())[5] == 31);
  CHECK(lanes(g, "redux.sync.add.s32 %r10, %r0, -1;", counted()) == words(32, 496));
  CHECK(lanes(g, "redux.sync.max.u32 %r10, %r0, -1;", counted()) == words(32, 31));
  CHECK(lanes(g, "redux.sync.xor.b32 %r10, %r0, -1;", counted()) == words(32, 0));
}

TEST_CASE("lanes that take different ways meet again") {
  gpu g;
  const words ways = lanes(g, R"(
    and.b32 %r1, %r0, 1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra EVEN;
    mul.lo.u32 %r10, %r0, 3;
    bra MEET;
    EVEN:
    add.u32 %r10, %r0, 1000;
    MEET:
    activemask.b32 %r2;
    popc.b32 %r3, %r2;
    mad.lo.u32 %r10, %r3, 10000, %r10;)",
                           counted());
  CHECK(ways[2] == 321002);
  CHECK(ways[3] == 320009);
  const words loops = lanes(g, R"(
    mov.u32 %r10, 0;
    mov.u32 %r1, 0;
    AGAIN:
    setp.ge.u32 %p1, %r1, %r0;
    @%p1 bra DONE;
    add.u32 %r10, %r10, %r1;
    add.u32 %r1, %r1, 1;
    bra AGAIN;
    DONE:)",
                            counted());
  for (std::uint32_t l = 0; l < 32; ++l) CHECK(loops[l] == (l ? l * (l - 1) / 2 : 0));
}

TEST_CASE("predicated instructions change the lanes of their predicate alone") {
  gpu g;
  const words w = lanes(g,
                        "mov.u32 %r10, 5; setp.gt.u32 %p1, %r0, 15; @%p1 mov.u32 %r10, 6;"
                        "@!%p1 add.u32 %r10, %r10, 2;",
                        counted());
  CHECK((w[15] == 7 && w[16] == 6));
}

TEST_CASE("a barrier orders warps, whatever their order") {
  const char *turn = R"(
    .shared .align 4 .b8 buffer[512];
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %r9, 4, %r1;
    st.shared.b32 [%r2], %r0;
    bar.sync 0;
    sub.u32 %r3, 127, %r9;
    mad.lo.u32 %r4, %r3, 4, %r1;
    ld.shared.b32 %r10, [%r4];)";
  for (const char *seed : {"0", "1", "2", "3"}) {
    gpu g("PTX_SEED", seed);
    const words w = lanes(g, turn, counted(128));
    for (std::uint32_t t = 0; t < 128; ++t) CHECK(w[t] == 127 - t);
  }
}

TEST_CASE("a barrier combines a predicate of all its threads") {
  const auto result = [](const char *seed, const char *op, const char *condition) {
    gpu g("PTX_SEED", seed);
    const words w = lanes(g, std::string("setp.") + condition + "; " + op, counted(96));
    CHECK(std::all_of(w.begin(), w.end(), [&](std::uint32_t x) { return x == w[0]; }));
    return w[0];
  };
  const char *any = "bar.red.or.pred %p2, 0, %p1; selp.u32 %r10, 1, 0, %p2;";
  const char *all = "bar.red.and.pred %p2, 0, %p1; selp.u32 %r10, 1, 0, %p2;";
  const char *none = "bar.red.or.pred %p2, 3, 96, !%p1; selp.u32 %r10, 0, 1, %p2;";
  for (const char *seed : {"0", "1", "2"}) {
    CHECK(result(seed, any, "eq.u32 %p1, %r0, 70") == 1);
    CHECK(result(seed, any, "eq.u32 %p1, %r0, 96") == 0);
    CHECK(result(seed, all, "lt.u32 %p1, %r0, 96") == 1);
    CHECK(result(seed, all, "ne.u32 %p1, %r0, 5") == 0);
    CHECK(result(seed, none, "lt.u32 %p1, %r0, 96") == 1);
    CHECK(result(seed, none, "ne.u32 %p1, %r0, 40") == 0);
    CHECK(result(seed, "bar.red.popc.u32 %r10, 0, %p1;", "lt.u32 %p1, %r0, 33") == 33);
  }
}

TEST_CASE("named barriers order the warps that use them") {
  // Warps 0 and 1 produce and arrive, warps 2 and 3 wait.
  const char *body = R"(
    .shared .align 4 .b8 buffer[256];
    mov.u32 %r1, buffer;
    and.b32 %r2, %r9, 63;
    mad.lo.u32 %r2, %r2, 4, %r1;
    mov.u32 %r10, 0;
    setp.ge.u32 %p1, %r9, 64;
    @%p1 bra CONSUME;
    st.shared.b32 [%r2], %r0;
    bar.arrive 1, 128;
    bra END;
    CONSUME:
    bar.sync 1, 128;
    ld.shared.b32 %r10, [%r2];
    END:)";
  for (const char *seed : {"0", "1", "2"}) {
    gpu g("PTX_SEED", seed);
    const words w = lanes(g, body, counted(128));
    CHECK((w[0] == 0 && w[64] == 0 && w[127] == 63));
  }
}
