// SPDX-License-Identifier: BSL-1.0
// Planted mistakes: each is noticed, with a text that names it, and its good twin passes.
#include "tests/catch.hpp"
#include "tests/cuda/gpu.hpp"

using namespace cuda_tests;

namespace {

// The message of a launch of 64 threads. The parameters are 256 bytes of global memory.
std::string outcome(const std::string &body, const char *seed = "0", unsigned threads = 64) {
  gpu g("PTX_SEED", seed);
  const address memory = g.allocate(256);
  return g.launch(g.kernel(entry("u64 memory", R"(
    .shared .align 16 .b8 buffer[256];
    .local .align 4 .b8 stack[16];
    ld.param.u64 %d1, [memory];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, buffer;
    mad.lo.u32 %r3, %r1, 4, %r2;
    mad.wide.u32 %d2, %r1, 4, %d1;
    setp.lt.u32 %p1, %r1, 32;
    setp.eq.u32 %p2, %r1, 0;
    )" + body)),
                  1, threads, memory);
}

void check_fine(const std::string &body) { CHECK(outcome(body) == ""); }

// Checks that the mistake is noticed in any order of warps, in a text with all of these parts.
void check_names(const std::string &body, const std::vector<std::string> &parts) {
  for (const char *seed : {"0", "1", "2"}) {
    const std::string text = outcome(body, seed);
    for (const std::string &part : parts) {
      INFO(body << "\nwith seed " << seed << ": " << text);
      CHECK(contains(text, part));
    }
  }
}

}  // namespace

TEST_CASE("a missing barrier is a race: a read after a write, a write after a read, two writes") {
  const std::string write = "st.shared.b32 [%r3], %r1;\n", barrier = "bar.sync 0;\n",
                    other = "xor.b32 %r4, %r1, 32; mad.lo.u32 %r5, %r4, 4, %r2;\n",
                    read = "ld.shared.b32 %r6, [%r5];\n";
  check_fine(write + other + barrier + read);
  check_names(write + other + read, {"race in shared memory", "warp"});
  check_fine(write + other + barrier + read + barrier + write);
  check_names(write + other + barrier + read + write, {"race in shared memory"});
  // One direction, with warp 0 first.
  CHECK(contains(outcome(other + "@%p1 st.shared.b32 [%r3], %r1; @!%p1 ld.shared.b32 %r6, [%r5];"),
                 "warp 1 reads what was written by warp 0"));
  CHECK(contains(outcome(other + "@%p1 ld.shared.b32 %r6, [%r5]; @!%p1 st.shared.b32 [%r3], %r1;"),
                 "warp 1 overwrites what is read by warp 0"));
  check_names("st.shared.b32 [%r2], %r1;", {"race in shared memory", "was written by"});
}

TEST_CASE("lanes of a warp race, too: nothing orders their accesses but a barrier") {
  const std::string write = "st.shared.b32 [%r3], %r1;\n", other = R"(
    xor.b32 %r4, %r1, 1;
    mad.lo.u32 %r5, %r4, 4, %r2;
    )",
                    barrier = "bar.warp.sync -1;\n", read = "ld.shared.b32 %r6, [%r5];\n";
  check_fine(write + other + barrier + read);
  check_fine(write + "ld.shared.b32 %r6, [%r3];");
  check_names(write + other + read, {"race in shared memory", "reads what was written by lane"});
  check_fine(other + read + barrier + write);
  check_names(other + read + write, {"race in shared memory", "overwrites what is read by lane"});
  check_fine("@%p2 st.shared.b32 [%r2], 7; bar.sync 0; ld.shared.b32 %r6, [%r2];");
  check_names("ld.shared.b32 %r6, [%r2]; @%p2 st.shared.b32 [%r2], 7;", {"race in shared memory"});
}

TEST_CASE("asynchronous copies that no barrier follows are races") {
  const std::string copy = R"(
    cp.async.ca.shared.global [%r3], [%d2], 4;
    cp.async.wait_all;
    xor.b32 %r4, %r1, 32;
    mad.lo.u32 %r5, %r4, 4, %r2;
    )";
  check_fine(copy + "bar.sync 0; ld.shared.b32 %r6, [%r5];");
  check_names(copy + "ld.shared.b32 %r6, [%r5];", {"race in shared memory"});
}

TEST_CASE("an asynchronous copy may overwrite memory as soon as it is issued") {
  const std::string read =
                        "xor.b32 %r4, %r1, 32; mad.lo.u32 %r5, %r4, 4, %r2;\n"
                        "st.shared.b32 [%r3], %r1;\nbar.sync 0;\nld.shared.b32 %r6, [%r5];\n",
                    copy = "cp.async.ca.shared.global [%r3], [%d2], 4;\n",
                    barrier = "bar.sync 0;\n", wait = "cp.async.wait_all;\n";
  check_fine(read + barrier + copy + wait);
  check_names(read + copy + barrier + wait, {"overwrites what is read by"});
}

TEST_CASE("wgmma without its fences") {
  // 64 x 8 += 64 x 16 by 16 x 8, which is zeros in shared memory.
  const std::string zeros = "st.shared.b32 [%r3], 0;\n",
                    publish = "fence.proxy.async.shared::cta;\n", barrier = "bar.sync 0;\n",
                    begin = "wgmma.fence.sync.aligned;\n", multiply = R"(
    cvt.u64.u32 %d4, %r2;
    shr.u64 %d4, %d4, 4;
    or.b64 %d4, %d4, 524288;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
      {%f0, %f1, %f2, %f3}, {%r10, %r11, %r12, %r13}, %d4, %p1, 1, 1, 0;
    wgmma.commit_group.sync.aligned;
    )",
                    wait = "wgmma.wait_group.sync.aligned 0;\n";
  check_fine(zeros + publish + barrier + begin + multiply + multiply + wait + begin + multiply +
             wait);
  check_names(zeros + barrier + begin + multiply + wait, {"without fence.proxy.async"});
  check_names(zeros + publish + begin + multiply + wait, {"race in shared memory"});
  check_names(zeros + publish + barrier + multiply + wait, {"without wgmma.fence"});
  check_names(zeros + publish + barrier + begin + multiply + wait + multiply + wait,
              {"without wgmma.fence"});
}

TEST_CASE("an access one byte outside of an allocation") {
  check_fine("ld.global.b8 %r4, [%d1+255];");
  check_names("ld.global.b8 %r4, [%d1+256];",
              {"global memory: reads 1 bytes", "256 bytes into an allocation of 256"});
  check_names("st.global.b8 [%d1+256], %r1;", {"global memory: writes 1 bytes"});
  check_names("ld.global.b8 %r4, [%d1+-1];", {"global memory: reads 1 bytes"});
  check_fine("ld.shared.b8 %r4, [%r2+255];");
  check_names("ld.shared.b8 %r4, [%r2+256];", {"shared memory: byte 256 + 1 of 256"});
  check_names("ld.shared.b8 %r4, [%r2+-1];", {"shared memory: byte 1023 of the system's part"});
  check_names("mov.u64 %d3, stack; st.local.b32 [%d3+16], %r1;", {"outside of its stack"});
  check_names("@%p2 atom.global.add.u32 %r4, [%d1+256], 1;", {"global memory: writes 4 bytes"});
  check_names("cp.async.ca.shared.global [%r3+4], [%d2+4], 4;", {"cp.async"});
}

TEST_CASE("memory that was freed, and null") {
  gpu g;
  const address memory = g.allocate(256);
  void *k = g.kernel(entry("u64 memory", "ld.param.u64 %d1, [memory]; ld.global.b32 %r1, [%d1];"));
  CHECK(g.launch(k, 1, 1, memory).empty());
  g.require("cuMemFree_v2", memory);
  CHECK(contains(g.launch(k, 1, 1, memory), "global memory: reads 4 bytes"));
  CHECK(contains(g.launch(k, 1, 1, address{0}), "before every allocation"));
}

TEST_CASE("misaligned accesses") {
  check_names("ld.global.b32 %r4, [%d1+2];", {"not aligned to 4 bytes"});
  check_names("ld.shared.b16 %h4, [%r2+1];", {"not aligned to 2 bytes"});
  check_names("ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%d1+8];", {"not aligned to 16 bytes"});
  check_names("cp.async.cg.shared.global [%r2], [%d1+8], 16;", {"not aligned to 16 bytes"});
}

TEST_CASE("a barrier that some lanes of a warp never reach") {
  check_names("setp.lt.u32 %p3, %r1, 16; @%p3 bar.sync 0;", {"lanes"});
  check_names(R"(
    setp.lt.u32 %p3, %r1, 16;
    @%p3 bra SKIP;
    bar.sync 0;
    bra END;
    SKIP:
    bar.sync 1;
    END:)",
              {"lanes"});
}

TEST_CASE("a deadlock names the line of each warp") {
  check_names(R"(
    @%p1 bra FIRST;
    bar.sync 1, 64;
    bra END;
    FIRST:
    bar.sync 2, 64;
    END:)",
              {"deadlock", "warp 0 at barrier 2", "warp 1 at barrier 1"});
  check_names("@%p1 bar.arrive 3, 96;", {"arrivals left at barrier 3"});
}

TEST_CASE("a shuffle from a lane that takes no part") {
  check_fine("@%p1 shfl.sync.idx.b32 %r4, %r1, 5, 31, -1;");
  check_names(R"(
    and.b32 %r4, %r1, 31;
    setp.lt.u32 %p3, %r4, 8;
    @%p3 shfl.sync.idx.b32 %r5, %r1, 20, 31, 0xff;)",
              {"shuffles from lane 20"});
  check_names(R"(
    and.b32 %r4, %r1, 31;
    setp.lt.u32 %p3, %r4, 8;
    @%p3 shfl.sync.idx.b32 %r5, %r1, 3, 31, -1;)",
              {"lanes"});
}

TEST_CASE("a matrix instruction that some lanes skip") {
  check_names(R"(
    and.b32 %r4, %r1, 31;
    setp.lt.u32 %p3, %r4, 8;
    @%p3 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2];)",
              {"lanes"});
}

TEST_CASE("what the emulator does not know is refused with its line") {
  const auto refusal = [](const std::string &text) {
    gpu g;
    try {
      (void)g.kernel(text);
    } catch (const std::exception &e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(contains(refusal(entry("u64 x", "frobnicate.s32 %r1, %r2;")), "k, line"));
  CHECK(contains(refusal(entry("u64 x", "frobnicate.s32 %r1, %r2;")),
                 "frobnicate.s32: not supported"));
  CHECK(
      contains(refusal(entry("u64 x", "add.rz.f32 %f1, %f2, %f3;")), "rounding is not supported"));
  CHECK(contains(refusal(entry("u64 x", "bra NOWHERE;")), "label is not known"));
  CHECK(contains(refusal(entry("u64 x", "mov.u32 %r1, nothing;")), "is not declared"));
  CHECK(contains(refusal(".version 8.0\n.surprise\n"), "PTX line"));
}
