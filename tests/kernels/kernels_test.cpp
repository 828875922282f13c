// Every kernel of specs.hpp on many sizes and layouts. A failure names its trial; QKV_TRIAL="..." runs only that one.
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "codegen/program/from_graph.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/dropout_specs.hpp"
#include "tests/kernels/f64_specs.hpp"
#include "tests/kernels/order_specs.hpp"
#include "tests/kernels/scan_specs.hpp"
#include "tests/kernels/specs.hpp"
#include "tests/kernels/trial.hpp"
#include "tests/kernels/zoo_specs.hpp"

using namespace qkv::testing;
using qkv::codegen::make_program;
using qkv::codegen::program;
using qkv::codegen::size_map;

namespace {

const std::vector<program> &programs() {
  static const std::vector<program> all = {QKV_TEST_PROGRAMS};
  return all;
}

// Sizes of the axes decided at the call: edges of registers, tiles, blocks and tasks, and one beyond each.
const std::vector<std::pair<std::int64_t, std::int64_t>> lengths = {
    {1, 1},    {2, 3},    {17, 5},   {16, 16},   {31, 33},  {32, 127},
    {33, 128}, {48, 129}, {64, 200}, {100, 257}, {127, 70}, {1, 300},
    {300, 1},  {520, 40}, {0, 5},    {5, 0},     {0, 0},    {37, 385}};

size_map sizes_for(const program &p, std::pair<std::int64_t, std::int64_t> length, unsigned seed) {
  size_map sizes;
  int next = 0;
  for (qkv::codegen::axis_id id = 0; id < static_cast<int>(p.axes.size()); ++id) {
    const auto &a = p.axes[static_cast<std::size_t>(id)];
    if (a.size >= 0 || a.root != id || is_decided(p, id)) continue;
    if (a.batch)
      sizes[a.name] = 1 + seed % 3;
    else if (a.name == "any_k")
      sizes[a.name] = 1 + (length.first * 7 + 3) % 40;
    else if (a.name == "any_v")
      sizes[a.name] = 1 + (length.second * 5 + 2) % 70;
    else
      sizes[a.name] = next++ == 0 ? length.first : length.second;
  }
  return sizes;
}

bool asked_for(const trial &t) {
  const char *only = std::getenv("QKV_TRIAL");
  return !only || text_of(t) == only;
}

}  // namespace

TEST_CASE("compiled kernels agree with the interpreter") {
  int trials = 0;
  for (const program &p : programs()) {
    unsigned seed = 0;
    for (const auto &length : lengths) {
      ++seed;
      const layout how = static_cast<layout>(seed % 3);
      const guard where = seed % 2 ? guard::after : guard::before;
      trial t{p, sizes_for(p, length, seed), how, where, seed, 1};
      if (!asked_for(t)) continue;
      const std::string wrong = run(t);
      ++trials;
      if (!wrong.empty()) FAIL_CHECK(wrong);
    }
  }
  INFO(trials << " trials");
  CHECK((trials >= 500 || std::getenv("QKV_TRIAL")));
}
