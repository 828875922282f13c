// SPDX-License-Identifier: BSL-1.0
#include <Halide.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "codegen/gradient/gradient.hpp"
#include "tests/fuzz/calls.hpp"
#include "tests/fuzz/check.hpp"
#include "tests/fuzz/compiled.hpp"
#include "tests/fuzz/data.hpp"
#include "tests/fuzz/isolate.hpp"
#include "tests/fuzz/language.hpp"
#include "tests/kernels/guarded_opencl.hpp"
#include "tests/support/places.hpp"

namespace qkv::fuzz {
namespace {

std::string called(const qkv_kernel &k, const codegen::program &p, const compiled_check &c) {
  dice d(c.seed);
  const std::vector<std::vector<long>> lengths = {
      {1, 2, 3, 5}, {15, 16, 17}, {63, 64, 65}, {0, 1, 4}, {1, 7, 33, 100, 200}, {8, 16, 32, 130}};
  std::uint64_t turn = 0;
  for (const auto &list : lengths) {
    const auto sizes = sizes_for(p, d, list, c.work);
    if (!sizes) continue;
    call one;
    one.sizes = *sizes;
    one.arguments = arguments_for(p, *sizes, d, c.special ? 20 : 0);
    one.on = c.on;
    one.seed = c.seed + turn++;
    if (c.on == device::opencl) testing::guard_opencl(guard_of(one));
    const std::string wrong = c.special ? wrong_special(k, p, one) : wrong_call(k, p, one);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string targets(const compiled_check &c) {
  if (c.on == device::host) return host_targets(c.seed / 4 % 2);
  return c.on == device::cuda ? "cuda" : "opencl";
}

std::string compiled_and_called(const codegen::program &p, const compiled_check &c) {
  const qkv_kernel *k = nullptr;
  try {
    k = &compiled(c.mistake ? c.mistake(p) : p, targets(c), c.folder);
  } catch (const Halide::Error &e) {
    return std::string("build: ") + e.what();
  } catch (const std::exception &e) {
    return std::string("build: ") + e.what();
  }
  try {
    return called(*k, p, c);
  } catch (const std::exception &e) {
    return std::string("interpreter: ") + e.what();
  }
}

}  // namespace

bool can_run_on(device d) {
  return isolated([&]() -> std::string { return testing::has(d) ? "" : "no device"; }, 60).empty();
}

std::string wrong_when_compiled(const recipe &r, const compiled_check &c) {
  auto p = program_of(r);
  if (!p) return "";
  if (c.gradient) try {
      p = codegen::gradient(*p);
    } catch (const std::runtime_error &) {
      return "";
    }
  std::filesystem::create_directories(c.folder);
  const auto work = [&] {
    if (!std::freopen("/dev/null", "w", stderr)) return std::string("no /dev/null");
    return compiled_and_called(*p, c);  // without Halide's warnings
  };
  const std::string wrong = isolated(work, c.seconds);
  std::filesystem::remove_all(c.folder);
  return wrong;
}

}  // namespace qkv::fuzz
