// SPDX-License-Identifier: BSL-1.0
// Kernels for CPUs beyond AVX-512: compiled everywhere, called where the processor can run them.
#include <cstdio>
#include <string>
#include <vector>

#include "newer_programs.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/device_trials.hpp"

using namespace qkv::testing;
using qkv::codegen::program;

namespace {

const std::vector<two_sizes> lengths = {{1, 1},  {1, 130},  {2, 77},   {6, 33},
                                        {17, 5}, {33, 129}, {48, 45},  {100, 257},
                                        {0, 5},  {5, 0},    {65, 600}, {300, 64}};

}  // namespace

TEST_CASE("kernels for newer CPUs agree with the interpreter") {
  int trials = 0;
  for (const program &p : newer_programs())
    for (const two_sizes &length : lengths) {
      const trial t =
          trial_on_device(p, qkv::device::host, length, static_cast<unsigned>(++trials));
      if (const qkv::status s = try_device(t); s.code() == qkv::status_code::unsupported) {
        std::printf("[SKIP] %s\n", s.text());
        return;
      }
      if (!asked_for(t)) continue;
      INFO(again(t));
      CHECK(run(t) == "");
    }
}
