// SPDX-License-Identifier: BSL-1.0
// Calls of few rows against many keys, as decoding makes them: each form, and one row beyond it.
#include <qkv/threads.hpp>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/catch.hpp"
#include "tests/kernels/device_trials.hpp"
#include "tests/kernels/programs.hpp"
#include "tests/kernels/trial.hpp"

using namespace qkv::testing;
using qkv::codegen::program;

namespace {

// Masks of each kind, caches, heads that share keys, biases, several sums and statistics, features
// that lanes cannot hold.
const std::vector<std::string> names = {"full",           "causal_self",    "grouped",
                                        "groups_of_call", "decode",         "decode_paged_ragged",
                                        "biased",         "alibi",          "two_values",
                                        "masked_gates",   "relu_weights",   "one_number",
                                        "f64_causal",     "widths_and_lse", "turns_of_call"};

const std::vector<std::int64_t> rows = {1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 33, 64, 65, 21, 48, 49},
                                keys = {0, 1, 15, 16, 17, 63, 64, 65, 1000},
                                rows_of_one_block = {33, 48};

template <class F>
void for_each_trial(F f) {
  int found = 0;
  for (const program &p : programs_of(qkv::device::host)) {
    if (std::find(names.begin(), names.end(), p.name) == names.end()) continue;
    ++found;
    unsigned seed = 0;
    const auto run_sizes = [&](std::int64_t n, std::int64_t m) {
      const trial t = trial_on_device(p, qkv::device::host, {n, m}, ++seed);
      if (asked_for(t)) f(t);
    };
    for (const std::int64_t n : rows)
      for (const std::int64_t m : keys) run_sizes(n, m);
    for (const std::int64_t n : rows_of_one_block)
      for (const std::int64_t m : {128, 129}) run_sizes(n, m);
  }
  CHECK(found == static_cast<int>(names.size()));
}

// The bits of all results with so many threads.
std::vector<double> results_with(int threads, const trial &t) {
  qkv::set_threads(threads);
  qkv::codegen::arrays results;
  const bool ok = results_of(t, random_arguments(t), results).ok();
  qkv::set_threads(0);
  CHECK(ok);
  std::vector<double> all;
  for (const auto &[name, a] : results) all.insert(all.end(), a.data.begin(), a.data.end());
  return all;
}

}  // namespace

TEST_CASE("calls of few rows agree with the interpreter") {
  for_each_trial([](const trial &t) {
    INFO(text_of(t));
    if (const std::string wrong = run(t); !wrong.empty()) FAIL_CHECK(wrong);
  });
}

TEST_CASE("calls of few rows give the same bits on one thread and on two") {
  for_each_trial([](const trial &t) {
    INFO(again(t));
    const std::vector<double> one = results_with(1, t), two = results_with(2, t);
    REQUIRE(one.size() == two.size());
    CHECK((one.empty() || std::memcmp(one.data(), two.data(), one.size() * sizeof(double)) == 0));
  });
}
