// SPDX-License-Identifier: BSL-1.0
// Accesses to shared memory in PTX move by a number of bytes; nothing else changes.
#include "codegen/emit/shared_memory.hpp"

#include "tests/catch.hpp"

using qkv::codegen::shared_memory_shifted;

TEST_CASE("accesses to shared memory are shifted, whatever their address is written as") {
  const auto shifted = [](const std::string &line) { return shared_memory_shifted(line, 1024); };
  CHECK(shifted("\tst.shared.b32 \t[%rd1], %r10;\n") == "\tst.shared.b32 \t[%rd1+1024], %r10;\n");
  CHECK(shifted("ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r2+16];") ==
        "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r2+1040];");
  CHECK(shifted("@%p1 ld.volatile.shared.f32 %f1, [%r2+-2000];") ==
        "@%p1 ld.volatile.shared.f32 %f1, [%r2+-976];");
  CHECK(shifted("@!%p2 atom.shared.add.u32 %r1, [64], %r2;") ==
        "@!%p2 atom.shared.add.u32 %r1, [1088], %r2;");
}

TEST_CASE("other lines with brackets or shared memory stay as they are") {
  for (const std::string line :
       {"ld.global.f32 %f1, [%rd1+4];\n", "ld.param.u64 %rd1, [kernel_param_0];\n",
        ".shared .align 4 .b8 buffer[1024];\n", "// st.shared.b32 [%r1], %r2;\n", "\n", ""})
    CHECK(shared_memory_shifted(line, 1024) == line);
  CHECK(shared_memory_shifted("bar.sync 0;\nst.shared.b8 [0], %r1;\nret;", 8) ==
        "bar.sync 0;\nst.shared.b8 [8], %r1;\nret;");
}
