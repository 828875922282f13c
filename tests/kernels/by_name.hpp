// SPDX-License-Identifier: BSL-1.0
#pragma once
// Kernels called by name on tensors of given sizes, for what memory and time they take.
#include <qkv/registry.hpp>
#include <qkv/run.hpp>
#include <qkv/workspace.hpp>

#include <algorithm>
#include <bit>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/dense_tensors.hpp"

namespace qkv::testing {

using sizes = std::map<std::string, std::int64_t>;

// Small numbers for every argument of a kernel; lengths beyond every position.
inline dense_tensors arguments(const qkv_kernel &kernel, const sizes &of) {
  dense_tensors all(kernel, [&](std::string_view axis) { return of.at(std::string(axis)); });
  for (std::size_t k = 0; k < all.list.size(); ++k) {
    auto *const numbers = static_cast<float *>(all.list[k].data);
    float x = 0.1f;
    for (std::size_t e = 0; e < all.memory[k].size(); ++e)
      numbers[e] = all.list[k].dtype == QKV_I32 ? std::bit_cast<float>(1 << 20)
                                                : x = x > 1 ? x - 1.9f : x + 0.37f;
  }
  return all;
}

inline const qkv_kernel &kernel_called(const char *name) { return *qkv::kernels(name).at(0); }

// Of the workspace, with one thread.
inline std::size_t bytes(const char *name, const sizes &of) {
  const dense_tensors all = arguments(kernel_called(name), of);
  qkv::options how;
  how.threads = 1;
  std::size_t size = 0;
  REQUIRE(qkv::workspace_bytes(kernel_called(name), all.list, size, how).ok());
  return size;
}

// Processor time of one thread, in turns: the best of seven calls each. Wall time would include
// other programs.
inline std::pair<double, double> seconds(const char *name, const sizes &a, const sizes &b) {
  const dense_tensors of_a = arguments(kernel_called(name), a),
                      of_b = arguments(kernel_called(name), b);
  qkv::options how;
  how.threads = 1;
  const auto once = [&](const dense_tensors &all) {
    const std::clock_t start = std::clock();
    REQUIRE(qkv::run(kernel_called(name), all.list, how).ok());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  std::pair<double, double> best = {1e9, 1e9};
  for (int turn = 0; turn < 7; ++turn)
    best = {std::min(best.first, once(of_a)), std::min(best.second, once(of_b))};
  return best;
}

}  // namespace qkv::testing
