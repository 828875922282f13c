// SPDX-License-Identifier: BSL-1.0
// The memory of a call that sheets print, and what a call takes.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "codegen/program/sizes.hpp"
#include "codegen/sheets/peak.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/by_name.hpp"
#include "tests/kernels/programs.hpp"

using namespace qkv::testing;

namespace {

const qkv::codegen::program &program_called(const std::string &name) {
  const auto &all = programs_of(qkv::device::host);
  return *std::find_if(all.begin(), all.end(), [&](const auto &p) { return p.name == name; });
}

// Bytes, by the sheet.
double peak(const std::string &name, const sizes &of) {
  const qkv::codegen::plan made = plan_of(program_called(name));
  const std::vector<std::int64_t> size = all_sizes(made.p, {of.begin(), of.end()});
  return peak_of(made, size).bytes.value(size).value();
}

struct counted {
  const char *name;
  sizes of;
};

}  // namespace

TEST_CASE("sheets have the memory that a call takes") {
  for (const counted &k : {
           counted{"causal_self", {{"batch", 2}, {"seq", 1024}}},  // two results
           counted{"gated_delta", {{"batch", 2}, {"seq", 1024}}},  // the table of a scan
           counted{"elman", {{"batch", 3}, {"seq", 2048}}},        // its folds
           counted{"two_scans", {{"batch", 1}, {"seq", 512}, {"c", 512}}},
           counted{"talking_heads",
                   {{"batch", 1}, {"seq", 512}, {"mem", 512}}},  // softmax of a map
           counted{"feed_forward", {{"batch", 3}, {"seq", 2048}}},
           counted{"linear_either_way", {{"batch", 2}, {"seq", 1024}, {"mem", 1024}}},
           counted{"absorbed", {{"batch", 2}, {"seq", 1024}, {"mem", 1024}}},
           counted{"shared_steps", {{"i", 20'000}}},
           counted{"sums_of_functions", {{"seq", 40'000}}},  // rows of a tile
       }) {
    const double said = peak(k.name, k.of),
                 taken = static_cast<double>(bytes(k.name, k.of) - 4096) / 2;
    INFO(k.name << ": " << said << " bytes by the sheet, " << taken << " taken");
    CHECK(taken > 1e6);
    CHECK(std::abs(said / taken - 1) < 0.15);
  }
}
