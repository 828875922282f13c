// SPDX-License-Identifier: BSL-1.0
#pragma once
// Trials of many kernels on a device; for a translation unit with Catch2.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/catch.hpp"
#include "tests/kernels/trial.hpp"

namespace qkv::testing {

inline trial trial_on_device(const codegen::program &p, device on, two_sizes length,
                             unsigned seed) {
  const guard where = guard_or(seed % 2 ? guard::after : guard::before);
  return {p, sizes_for(p, length, seed), static_cast<layout>(seed % 3), where, seed, 1, on};
}

// QKV_SHARD=2/8: every eighth kernel, from the third one on.
struct shard {
  std::size_t own = 0, all = 1;
};

inline shard asked_shard() {
  shard s;
  if (const char *text = std::getenv("QKV_SHARD"))
    REQUIRE((std::sscanf(text, "%zu/%zu", &s.own, &s.all) == 2 && s.own < s.all));
  return s;
}

// Each program at each length; prints how many trials there were, which are at least so many. The
// environment selects: QKV_KERNEL, unless empty, one kernel; QKV_TRIAL one trial; QKV_SHARD a part.
inline void run_on_device(const std::vector<codegen::program> &programs, device on,
                          const std::vector<two_sizes> &lengths, int least) {
  int trials = 0;
  const char *kernel = std::getenv("QKV_KERNEL");
  if (kernel && !*kernel) kernel = nullptr;
  const shard part = asked_shard();
  std::size_t place = 0;
  for (const codegen::program &p : programs) {
    if (kernel && p.name != kernel) continue;
    if (place++ % part.all != part.own) continue;
    unsigned seed = 0;
    for (const two_sizes &length : lengths) {
      const trial t = trial_on_device(p, on, length, ++seed);
      if (!asked_for(t)) continue;
      INFO(text_of(t));
      const std::string wrong = run(t);
      ++trials;
      if (!wrong.empty()) FAIL_CHECK(wrong);
    }
  }
  std::printf("%d trials\n", trials);
  CHECK((trials >= least || kernel || part.all > 1 || std::getenv("QKV_TRIAL")));
}

}  // namespace qkv::testing
