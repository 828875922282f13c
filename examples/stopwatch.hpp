// SPDX-License-Identifier: BSL-1.0
#pragma once
// How long something takes.
#include <algorithm>
#include <chrono>
#include <vector>

namespace examples {

// The median of repeated runs, in seconds: at least 3, for about a fifth of a second.
template <class F>
double seconds(F run) {
  using clock = std::chrono::steady_clock;
  std::vector<double> all;
  const auto begin = clock::now();
  do {
    const auto start = clock::now();
    run();
    all.push_back(std::chrono::duration<double>(clock::now() - start).count());
  } while (all.size() < 3 || clock::now() - begin < std::chrono::milliseconds(200));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

}  // namespace examples
