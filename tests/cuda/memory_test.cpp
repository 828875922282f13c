// SPDX-License-Identifier: BSL-1.0
// Instructions on memory: widths, vectors, spaces, atomics, asynchronous copies.
#include <numeric>

#include "tests/catch.hpp"
#include "tests/cuda/gpu.hpp"

using namespace cuda_tests;
using words = std::vector<std::uint32_t>;

TEST_CASE("loads and stores of each width: extension, vectors") {
  const words in(32, 0x89abcdef);
  gpu g;
  CHECK(lanes(g, "ld.global.u8 %r10, [%d30];", in)[3] == 0xef);
  CHECK(lanes(g, "ld.global.s8 %r10, [%d30];", in)[3] == 0xffffffef);
  CHECK(lanes(g, "ld.global.u8 %r10, [%d30+3];", in)[3] == 0x89);
  CHECK(lanes(g, "ld.global.u16 %h1, [%d30+2]; cvt.u32.u16 %r10, %h1;", in)[3] == 0x89ab);
  CHECK(lanes(g, "ld.global.s16 %r10, [%d30];", in)[3] == 0xffffcdef);
  CHECK(lanes(g, "st.global.u8 [%d31], %r0; ld.global.b32 %r10, [%d31];", in)[3] == 0xffffffef);
  CHECK(lanes(g, "st.global.u16 [%d31+2], %r0; ld.global.b32 %r10, [%d31];", in)[3] == 0xcdefffff);
  words counted(32);
  std::iota(counted.begin(), counted.end(), 0u);
  const char *vector = "ld.param.u64 %d1, [in]; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d1+16];";
  CHECK(lanes(g, std::string(vector) + "mov.b32 %r10, %r4;", counted)[9] == 7);
  const char *pair = "ld.param.u64 %d1, [in]; ld.global.v2.b64 {%d2, %d3}, [%d1];";
  CHECK(lanes(g, std::string(pair) + "cvt.u32.u64 %r10, %d3;", counted)[9] == 2);
}

TEST_CASE("shared, local, constant, and generic memory") {
  words counted(32);
  std::iota(counted.begin(), counted.end(), 100u);
  gpu g;
  const words turned = lanes(g, R"(
    .shared .align 4 .b8 buffer[128];
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %r9, 4, %r1;
    st.shared.b32 [%r2], %r0;
    bar.sync 0;
    xor.b32 %r3, %r9, 31;
    mad.lo.u32 %r4, %r3, 4, %r1;
    ld.shared.b32 %r10, [%r4];)",
                             counted);
  CHECK(turned[0] == 131);
  CHECK(turned[31] == 100);
  const words through_generic = lanes(g, R"(
    .shared .align 4 .b8 buffer[128];
    mov.u64 %d1, buffer;
    cvta.shared.u64 %d2, %d1;
    mad.wide.u32 %d3, %r9, 4, %d2;
    st.b32 [%d3], %r0;
    cvta.to.shared.u64 %d4, %d3;
    ld.shared.b32 %r10, [%d4];)",
                                      counted);
  CHECK(through_generic == counted);
  const words own = lanes(g, R"(
    .local .align 4 .b8 stack[8];
    mov.u64 %d1, stack;
    st.local.b32 [%d1+4], %r0;
    ld.local.b32 %r10, [%d1+4];)",
                          counted);
  CHECK(own == counted);
  const std::string module = entry("u64 out", R"(
    ld.param.u64 %d1, [out];
    mov.u64 %d2, table;
    ld.const.b32 %r1, [%d2+4];
    st.global.b32 [%d1], %r1;)");
  const auto at = module.find(".visible");
  const std::string with_table =
      module.substr(0, at) + ".const .align 4 .u32 table[2] = {5, 6};\n" + module.substr(at);
  const address out = g.allocate(4);
  CHECK(g.launch(g.kernel(with_table), 1, 1, out).empty());
  CHECK(g.download<std::uint32_t>(out, 1)[0] == 6);
}

TEST_CASE("memory that nothing was written to holds NaN, so that a read of it shows") {
  gpu g;
  CHECK(g.download<std::uint32_t>(g.allocate(4), 1)[0] == 0xffffffff);
  const words shared = lanes(g, R"(
    .shared .align 4 .b8 buffer[128];
    mov.u32 %r1, buffer;
    ld.shared.f32 %f1, [%r1];
    setp.nan.f32 %p1, %f1, %f1;
    selp.b32 %r10, 1, 0, %p1;)",
                             words(32));
  CHECK(shared == words(32, 1));
}

TEST_CASE("atomics: every lane counts, and each receives the value before it") {
  const std::string parameters = "u64 out";
  const auto total = [&](const std::string &instruction, std::uint32_t before) {
    gpu g;
    const address out = g.upload<std::uint32_t>({before});
    const std::string text = entry(parameters, R"(
      ld.param.u64 %d1, [out];
      mov.u32 %r1, %tid.x;
      )" + instruction);
    CHECK(g.launch(g.kernel(text), 2, 64, out).empty());
    return g.download<std::uint32_t>(out, 1)[0];
  };
  CHECK(total("atom.global.add.u32 %r2, [%d1], 1;", 5) == 133);
  CHECK(total("red.global.add.u32 [%d1], %r1;", 0) == 63 * 64);
  CHECK(total("atom.global.max.s32 %r2, [%d1], %r1;", 0xfffffff0) == 63);
  CHECK(total("atom.global.min.u32 %r2, [%d1], %r1;", 7) == 0);
  CHECK(total("atom.global.or.b32 %r2, [%d1], %r1;", 0x100) == 0x13f);
  CHECK(total("atom.global.inc.u32 %r2, [%d1], 9;", 0) == 8);
  CHECK(total("atom.global.exch.b32 %r2, [%d1], 77;", 0) == 77);
  CHECK(total("atom.global.cas.b32 %r2, [%d1], 0, 9;", 0) == 9);
  CHECK(total("mov.f32 %f1, 0f3F800000; atom.global.add.f32 %f2, [%d1], %f1;", 0) == bits(128.f));
}

TEST_CASE("cp.async: copies arrive at the wait, bytes past the source become zero") {
  words counted(32);
  std::iota(counted.begin(), counted.end(), 1u);
  gpu g;
  const std::string start = R"(
    .shared .align 16 .b8 buffer[512];
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %r9, 4, %r1;
    mov.u32 %r5, 7;
    st.shared.b32 [%r2], %r5;
    )";
  const std::string copy = "cp.async.ca.shared.global [%r2], [%d30], 4;\ncp.async.commit_group;\n";
  CHECK(lanes(g, start + copy + "cp.async.wait_group 0;\nld.shared.b32 %r10, [%r2];", counted) ==
        counted);
  CHECK(lanes(g, start + copy + "ld.shared.b32 %r10, [%r2];", counted) == words(32, 7));
  CHECK(lanes(g, start + copy + "cp.async.wait_group 1;\nld.shared.b32 %r10, [%r2];", counted) ==
        words(32, 7));
  const std::string cut = "mov.u32 %r6, 2;\ncp.async.ca.shared.global [%r2], [%d30], 4, %r6;\n";
  CHECK(lanes(g, start + cut + "cp.async.wait_all;\nld.shared.b32 %r10, [%r2];",
              words(32, 0x12345678)) == words(32, 0x5678));
}

TEST_CASE("cp.async.mbarrier.arrive: a barrier of memory waits for the copies of its threads") {
  const char *body = R"(
    .shared .align 8 .b8 buffer[528];
    mov.u32 %r1, buffer;
    add.u32 %r2, %r1, 512;
    setp.eq.u32 %p1, %r9, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r2], 128;
    bar.sync 0;
    mad.lo.u32 %r3, %r9, 4, %r1;
    cp.async.ca.shared.global [%r3], [%d30], 4;
    cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2];
    WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @%p2 bra DONE;
    bra WAIT;
    DONE:
    sub.u32 %r4, 127, %r9;
    mad.lo.u32 %r4, %r4, 4, %r1;
    ld.shared.b32 %r10, [%r4];)";
  words in(128);
  std::iota(in.begin(), in.end(), 0u);
  for (const char *seed : {"0", "1", "2"}) {
    gpu g("PTX_SEED", seed);
    const words w = lanes(g, body, in);
    for (std::uint32_t t = 0; t < 128; ++t) CHECK(w[t] == 127 - t);
  }
}
