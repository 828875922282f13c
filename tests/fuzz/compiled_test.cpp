// SPDX-License-Identifier: BSL-1.0
// A fixed slice of random specs, compiled and called: on this machine's CPU, through OpenCL and
// CUDA, some with NaN and infinities.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "tests/catch.hpp"
#include "tests/fuzz/check.hpp"
#include "tests/fuzz/draw.hpp"
#include "tests/fuzz/mistakes.hpp"
#include "tests/fuzz/print.hpp"
#include "tests/fuzz/shrink.hpp"

using namespace qkv::fuzz;
using qkv::device;

namespace {

void check(std::uint64_t first, std::uint64_t last, device on, bool special) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    taste t;
    t.no_f64 = on != device::host;
    const recipe r = pruned(draw(seed, t), seed % 10 == 0);
    compiled_check c;
    c.seed = seed, c.on = on, c.work = 1e6;
    c.special = special || (on != device::host && seed % 3 == 0);
    c.folder = fmt::format("fuzz_test_{}", getpid());
    const std::string wrong = wrong_when_compiled(r, c);
    INFO("seed " << seed << "\n" << header_of(r));
    CHECK(wrong == "");
  }
}

}  // namespace

TEST_CASE("random specs compiled for this machine are right") { check(0, 24, device::host, false); }

TEST_CASE("random specs are right where elements are NaN or infinite") {
  check(3000, 3008, device::host, true);
}

TEST_CASE("mistakes in what is compiled are found within 300 specs", "[.long]") {
  for (const mistake &m : mistakes()) {
    if (m.in != "lowering") continue;
    int found = -1;
    for (std::uint64_t seed = 0; found < 0 && seed < 300; ++seed) {
      const recipe r = pruned(draw(seed));
      compiled_check c;
      c.seed = seed, c.work = 1e5, c.mistake = m.make;
      c.folder = fmt::format("fuzz_test_{}", getpid());
      if (!wrong_when_compiled(r, c).starts_with("wrong: ")) continue;
      c.mistake = {};
      if (wrong_when_compiled(r, c).empty()) found = static_cast<int>(seed);
    }
    INFO(m.name);
    CHECK(found >= 0);
  }
}

TEST_CASE("random specs are right on OpenCL") {
  if (!can_run_on(device::opencl)) {
    std::printf("[SKIP] no OpenCL\n");
    return;
  }
  check(200, 206, device::opencl, false);
}

TEST_CASE("random specs are right on CUDA") {
  if (!can_run_on(device::cuda)) {
    std::printf("[SKIP] no GPU, and no emulator of one\n");
    return;
  }
  check(200, 206, device::cuda, false);
}
