// SPDX-License-Identifier: BSL-1.0
// Masked values act as if they were absent, and visible ones come through, including NaN and
// infinities, which make up one element in twenty. An element whose reference is finite must be
// finite, and right by the 2x rule; any other must not be finite.
#include <fmt/format.h>
#include <qkv/device.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

#include "codegen/reference/interpreter.hpp"
#include "hidden_programs.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/trial.hpp"
#include "tests/support/judge.hpp"
#include "tests/support/places.hpp"

namespace {

using namespace qkv;
using codegen::arrays;
using codegen::program;

const std::vector<program> &programs() {
  static const std::vector<program> all = testing::hidden_programs();
  return all;
}

arrays with_special_values(const program &p, arrays arguments, unsigned seed) {
  std::mt19937 random(seed);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (codegen::node_id n : p.arguments) {
    if (p[n].type == i32 || p[n].type == b8) continue;
    for (double &x : arguments.at(p[n].name).data)
      if (random() % 20 == 0)
        x = random() % 2   ? std::numeric_limits<double>::quiet_NaN()
            : random() % 2 ? infinite
                           : -infinite;
  }
  return arguments;
}

// Empty if the results are right, else a text about the first wrong element.
std::string broken(const program &p, const arrays &arguments, const codegen::size_map &sizes,
                   const arrays &results) {
  const arrays wanted = codegen::interpret(p, arguments, sizes);
  for (codegen::node_id n : p.outputs) {
    const std::vector<double> &want = wanted.at(p[n].name).data, &got = results.at(p[n].name).data;
    for (std::size_t k = 0; k < want.size(); ++k)
      if (std::isfinite(want[k]) != std::isfinite(got[k]))
        return fmt::format("{}[{}] is {}, expected {}", p[n].name, k, got[k], want[k]);
  }
  return testing::wrong_special_results(p, arguments, sizes, results);
}

void check_everywhere(device on) {
  if (!testing::has(on)) {
    std::printf("[SKIP] %s\n", available(on).text());
    return;
  }
  if (on == device::cuda && !QKV_TEST_CUDA) {
    std::printf("[SKIP] these have code for CUDA with QKV_TEST_CUDA\n");
    return;
  }
  int tried = 0;
  for (const program &p : programs()) {
    for (unsigned seed = 0; seed < 6; ++seed)
      for (const testing::two_sizes &length :
           {testing::two_sizes{1, 1}, {7, 7}, {33, 20}, {5, 0}, {70, 150}, {4, 300}}) {
        testing::trial t{p, testing::sizes_for(p, length, seed)};
        t.seed = seed, t.on = on;
        if (!testing::asked_for(t)) continue;
        const arrays honest = testing::random_arguments(t);
        const arrays arguments = seed == 0 ? honest : with_special_values(p, honest, seed);
        arrays results;
        const status s = testing::results_of(t, arguments, results);
        if (s.code() == status_code::unsupported) continue;  // not built for this device
        ++tried;
        INFO(testing::again(t));
        CHECK(s.text() == status{}.text());
        if (s.ok()) CHECK(broken(p, arguments, t.sizes, results) == "");
      }
  }
  std::printf("%d trials\n", tried);
  CHECK((tried >= (on == device::host || QKV_LONG ? 400 : 200) || std::getenv("QKV_TRIAL")));
}

}  // namespace

TEST_CASE("masks hide, and nothing else does: on the CPU") { check_everywhere(device::host); }

TEST_CASE("masks hide, and nothing else does: through OpenCL") { check_everywhere(device::opencl); }

TEST_CASE("masks hide, and nothing else does: through CUDA") { check_everywhere(device::cuda); }
