// Every kernel of the specs through its GPU schedules. OpenCL runs wherever an implementation is
// installed (PoCL on CPUs); CUDA runs where there is a GPU or the emulator of tests/cuda, and must
// report an error where there is none.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <qkv/device.hpp>

#include "tests/catch.hpp"
#include "tests/kernels/programs.hpp"
#include "tests/kernels/trial.hpp"

using namespace qkv::testing;
using qkv::device;
using qkv::status_code;
using qkv::codegen::program;

namespace {

// Queries and keys: one of each, tails on both sides, several tiles of rows, three tiles of keys and more (tiles have 64
// or 32 rows and at most 64 keys; Halide 21 miscompiled from the second one on), nothing. The usual
// tests leave out those that are added below.
const std::vector<two_sizes> lengths = [] {
  std::vector<two_sizes> all = {{1, 1}, {17, 5}, {33, 100}, {100, 257}, {0, 5}, {5, 0}};
  if (QKV_LONG) all.insert(all.end(), {{64, 32}, {129, 130}, {2, 200}});
  return all;
}();

trial trial_of(const program &p, device on, two_sizes length, unsigned seed) {
  const guard where = guard_or(seed % 2 ? guard::after : guard::before);
  return {p, sizes_for(p, length, seed), static_cast<layout>(seed % 3), where, seed, 1, on};
}

// Ok when there is such a device; else the status that a call gives. Four bytes of its memory
// decide: once those can be had, a kernel that fails is a failure.
qkv::status absent(device on) {
  qkv::device_memory probe;
  if (qkv::device_memory::make({.on = on}, 4, 1, probe).ok()) return {};
  const auto any = std::find_if(programs_of(on).begin(), programs_of(on).end(),
                                [](const program &p) { return p.name == "outer_product"; });
  REQUIRE(any != programs_of(on).end());
  return try_device(trial_of(*any, on, {4, 4}, 1));
}

// QKV_SHARD=2/8: every eighth kernel, from the third one on.
struct shard {
  std::size_t own = 0, all = 1;
};

shard asked_shard() {
  shard s;
  if (const char *text = std::getenv("QKV_SHARD"))
    REQUIRE((std::sscanf(text, "%zu/%zu", &s.own, &s.all) == 2 && s.own < s.all));
  return s;
}

void run_all(device on) {
  int trials = 0;
  const char *kernel = std::getenv("QKV_KERNEL");  // trials of this one only
  const shard part = asked_shard();
  std::size_t place = 0;
  for (const program &p : programs_of(on)) {
    if (kernel && p.name != kernel) continue;
    if (place++ % part.all != part.own) continue;
    unsigned seed = 0;
    for (const auto &length : lengths) {
      const trial t = trial_of(p, on, length, ++seed);
      if (const char *only = std::getenv("QKV_TRIAL"); only && text_of(t) != only) continue;
      INFO(text_of(t));
      const std::string wrong = run(t);
      ++trials;
      if (!wrong.empty()) FAIL_CHECK(wrong);
    }
  }
  std::printf("%d trials\n", trials);
  const int least = on == device::cuda && !QKV_LONG ? 150 : 200;
  CHECK((trials >= least || kernel || part.all > 1 || std::getenv("QKV_TRIAL")));
}

}  // namespace

TEST_CASE("kernels agree with the interpreter on OpenCL") {
  const qkv::status s = absent(device::opencl);
  if (s.code() == status_code::no_device) {
    std::printf("[SKIP] %s\n", s.text());
    return;
  }
  INFO(s.text());
  REQUIRE(s.ok());
  run_all(device::opencl);
}

TEST_CASE("kernels agree with the interpreter on CUDA, or the call says that there is none") {
  if (const qkv::status s = absent(device::cuda); !s.ok()) {
    INFO(s.text());
    REQUIRE(std::getenv("QKV_CUDA_MUST_RUN") == nullptr);
    // Without a GPU, the driver may be there and fail.
    CHECK((s.code() == status_code::no_device || s.code() == status_code::device_failed));
    CHECK(std::string(s.text()).find("cuda") != std::string::npos);
    return;
  }
  run_all(device::cuda);
}
