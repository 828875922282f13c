// SPDX-License-Identifier: BSL-1.0
// Every kernel of specs.hpp on many sizes and layouts. A failure names its trial; QKV_TRIAL="..."
// runs only that one.
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/kernels/device_trials.hpp"
#include "tests/kernels/programs.hpp"
#include "tests/kernels/trial.hpp"

using namespace qkv::testing;
using qkv::codegen::program;

namespace {

// Sizes of the axes decided at the call: edges of registers, tiles, blocks and tasks, and one
// beyond each. The usual tests leave out those that are added below.
const std::vector<two_sizes> lengths = [] {
  std::vector<two_sizes> all = {{1, 1},     {2, 3},   {17, 5},  {31, 33}, {33, 128}, {48, 129},
                                {100, 257}, {1, 300}, {300, 1}, {0, 5},   {5, 0},    {0, 0}};
  if (QKV_LONG)
    all.insert(all.end(), {{16, 16}, {32, 127}, {64, 200}, {127, 70}, {520, 40}, {37, 385}});
  return all;
}();

}  // namespace

TEST_CASE("compiled kernels agree with the interpreter") {
  int trials = 0;
  for (const program &p : programs_of(qkv::device::host)) {
    unsigned seed = 0;
    for (const auto &length : lengths) {
      const trial t = trial_on_device(p, qkv::device::host, length, ++seed);
      if (!asked_for(t)) continue;
      INFO(text_of(t));
      const std::string wrong = run(t);
      ++trials;
      if (!wrong.empty()) FAIL_CHECK(wrong);
    }
  }
  INFO(trials << " trials");
  CHECK((trials >= 500 || std::getenv("QKV_TRIAL")));
}
