// SPDX-License-Identifier: BSL-1.0
// Every kernel of the specs through its GPU schedules. OpenCL runs wherever an implementation is
// installed (PoCL on CPUs); CUDA runs where there is a GPU or the emulator of tests/cuda, and must
// report an error where there is none.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <qkv/device.hpp>

#include "tests/catch.hpp"
#include "tests/kernels/device_trials.hpp"
#include "tests/kernels/programs.hpp"

using namespace qkv::testing;
using qkv::device;
using qkv::status_code;
using qkv::codegen::program;

namespace {

// Queries and keys: one of each, tails on both sides, several tiles of rows, three tiles of keys
// and more (tiles have 64 or 32 rows and at most 64 keys; Halide 21 miscompiled from the second one
// on), nothing. The usual tests leave out those that are added below.
const std::vector<two_sizes> lengths = [] {
  std::vector<two_sizes> all = {{1, 1}, {17, 5}, {33, 100}, {100, 257}, {0, 5}, {5, 0}};
  if (QKV_LONG) all.insert(all.end(), {{64, 32}, {129, 130}, {2, 200}});
  return all;
}();

// Ok when there is such a device; else the status that a call gives. Four bytes of its memory
// decide: once those can be had, a kernel that fails is a failure.
qkv::status absent(device on) {
  qkv::device_memory probe;
  if (qkv::device_memory::make({.on = on}, 4, 1, probe).ok()) return {};
  const auto any = std::find_if(programs_of(on).begin(), programs_of(on).end(),
                                [](const program &p) { return p.name == "outer_product"; });
  REQUIRE(any != programs_of(on).end());
  return try_device(trial_on_device(*any, on, {4, 4}, 1));
}

void run_all(device on) {
  run_on_device(programs_of(on), on, lengths, on == device::cuda && !QKV_LONG ? 150 : 200);
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
