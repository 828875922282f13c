// SPDX-License-Identifier: BSL-1.0
#pragma once
// Machines that are threads of this process.
#include <functional>
#include <qkv/status.hpp>
#include <thread>
#include <vector>

namespace qkv::testing {

// Runs a call on every machine, each in a thread of its own; the status of each.
inline std::vector<status> on_machines(int n, const std::function<status(int machine)> &call) {
  std::vector<status> found(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (int m = 0; m < n; ++m)
    threads.emplace_back([&, m] { found[static_cast<std::size_t>(m)] = call(m); });
  for (std::thread &t : threads) t.join();
  return found;
}

}  // namespace qkv::testing
